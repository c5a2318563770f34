package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xreg"
	"github.com/plinthgo/plinth/examples/grpc/internal/logic"
)

var errUsage = errors.New("usage: grpc [app create NAME]")

// command runs the command in args on the database of the service, which may be running.
func command(ctx context.Context, args []string, out io.Writer) (err error) {
	if len(args) != 3 || args[0] != "app" || args[1] != "create" {
		return errUsage
	}
	reg, err := xreg.New(ctx, nil, append(options(), xoption.WithLogConfig(logToStderr))...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, reg.Close(ctx)) }()
	// the application's context, derived from ctx
	app, secret, err := logic.CreateApp(reg.Init.Ctx, args[2])
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "APP_ACCESS_ID=%s\nAPP_SECRET_KEY=%s\n", app.ID, secret)
	return err
}

// logToStderr directs the log to standard error.
func logToStderr(c *xlog.Config) {
	c.Writer, c.Dir, c.Level = os.Stderr, "", slog.LevelWarn
}
