package xlog_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/plinthgo/plinth/core/common/xlog"
)

// exampleEngine writes JSON to standard output with a fixed time.
func exampleEngine() *xlog.Engine {
	e, err := xlog.New(xlog.Config{
		Level:  slog.LevelDebug,
		Format: xlog.FormatJSON,
		Writer: os.Stdout,
		Clock:  func() time.Time { return time.Date(2025, 3, 4, 12, 0, 0, 0, time.UTC) },
	})
	if err != nil {
		panic(err)
	}
	return e
}

func ExampleNew() {
	config, err := xlog.ConfigFromEnv()
	if err != nil {
		fmt.Println(err)
		return
	}
	config.Dir = "" // no files here
	engine, err := xlog.New(config)
	if err != nil {
		fmt.Println(err)
		return
	}
	restore := xlog.SetDefault(engine)
	defer restore()
	defer func() { _ = engine.Close() }()
	// Output:
}

func ExampleWithName() {
	ctx := xlog.NewContext(context.Background(), exampleEngine())
	log := xlog.WithName(xlog.NamedSERV)

	log.Info(ctx, "user registered", slog.Int("user", 42), slog.String("password", "hunter2"))
	log.SugarWarn(ctx, "mail is slow", "took", 1500*time.Millisecond, "error",
		errors.New("timeout"))
	// Output:
	// {"time":"2025-03-04T12:00:00.000Z","level":"info","name":"SERV","msg":"user registered","user":42,"password":"***"}
	// {"time":"2025-03-04T12:00:00.000Z","level":"warn","name":"SERV","msg":"mail is slow","took":1500,"error":"timeout"}
}

func ExampleLogNamedLogger_Slog() {
	library := xlog.WithName("LIB").Slog() // for a library that requires a *slog.Logger
	fmt.Println(library.Enabled(context.Background(), slog.LevelError))
	// Output: true
}

func ExampleSecret() {
	type config struct {
		User string
		Pass xlog.Secret
	}
	fmt.Printf("%+v\n", config{"bob", "hunter2"})
	// Output: {User:bob Pass:***}
}
