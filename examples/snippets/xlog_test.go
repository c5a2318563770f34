package snippets_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/plinthgo/plinth/core/common/xlog"
)

// UserService implements the operations on users.
type UserService struct{}

var log = xlog.WithName(xlog.NamedSERV)

func (s *UserService) Register(ctx context.Context, name, password string) {
	log.Info(ctx, "user registered", slog.String("user", name), slog.String("password", password))
}

// xlogUsers is a fake repository.
type xlogUsers struct{}

// Find always fails.
func (xlogUsers) Find(context.Context, int64) error { return errors.New("user not found") }

func xlogFind(ctx context.Context, repo xlogUsers, id int64, header http.Header) error {
	err := xlog.WithName(xlog.NamedREPO).Trace(ctx, "User.Find", func(ctx context.Context) error {
		return repo.Find(ctx, id)
	}, slog.Any("headers", header))
	return err
}

func xlogAccess(ctx context.Context, start time.Time, agent string) {
	log.Access(ctx, &xlog.AccessLine{
		Method: "GET", Path: "/api/v1/user/1", Route: "/api/v1/user/:id", Status: 200, Bytes: 512,
		Start: start, ClientIP: "192.0.2.1", UserAgent: agent,
	})
}

func TestXLog_Lines(t *testing.T) {
	t.Parallel()
	var buffer bytes.Buffer
	engine, err := xlog.New(xlog.Config{Writer: &buffer, Format: xlog.FormatJSON})
	if err != nil {
		t.Fatal(err)
	}
	ctx := xlog.NewContext(t.Context(), engine) // with ctx, every logger writes to engine

	new(UserService).Register(ctx, "ann", "hunter2")
	if err := xlogFind(ctx, xlogUsers{}, 7,
		http.Header{"Authorization": {"Bearer abc"}}); err == nil {
		t.Error("xlogFind returned no error")
	}
	xlogAccess(ctx, time.Now(), "curl")
	for _, want := range []string{
		`"name":"SERV","msg":"user registered","user":"ann","password":"***"}`,
		`"call":"User.Find","outcome":"error"`, `"headers":{"Authorization":"***"}`,
		`"msg":"request","method":"GET","path":"/api/v1/user/1","route":"/api/v1/user/:id","status":200`,
	} {
		if !strings.Contains(buffer.String(), want) {
			t.Errorf("the log does not contain %s:\n%s", want, &buffer)
		}
	}
}

// xlogEngine configures logging in a program without xreg.
func xlogEngine(run func(engine *xlog.Engine) error) error {
	config, err := xlog.ConfigFromEnv()
	if err != nil {
		return err
	}
	engine, err := xlog.New(config)
	if err != nil {
		return err
	}
	restore := xlog.SetDefault(engine)
	defer restore()
	defer engine.Close() //nolint:errcheck // the program exits

	return run(engine)
}

func TestXLog_ConfigFromEnv(t *testing.T) {
	t.Setenv("LOG_DIR", "none")
	t.Setenv("LOG_LEVEL", "error")
	if err := xlogEngine(func(engine *xlog.Engine) error {
		if log.Enabled(t.Context(), slog.LevelWarn) || !log.Enabled(t.Context(), slog.LevelError) {
			t.Errorf("the level of %v differs from LOG_LEVEL", engine)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}
