package asyncx_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gin-gonic/gin"
	"go.uber.org/goleak"

	"github.com/plinthgo/plinth/asyncx"
	"github.com/plinthgo/plinth/asyncx/backoff"
	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/major/xdb/transaction"
	"github.com/plinthgo/plinth/core/major/xhook"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// errWork is the error of failing tasks.
var errWork = errors.New("the task failed")

// application returns the context and lifecycle of an application, and its log.
func application(t *testing.T) (context.Context, *xhook.Lifecycle, *logBuffer) {
	t.Helper()
	out := &logBuffer{}
	engine, err := xlog.New(xlog.Config{
		Writer: out, Format: xlog.FormatJSON, Level: slog.LevelDebug,
	})
	if err != nil {
		t.Fatal(err)
	}
	lifecycle := xhook.New()
	ctx := xlog.NewContext(context.Background(), engine)
	return xhook.NewContext(ctx, lifecycle), lifecycle, out
}

// logBuffer collects log output.
type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// stop stops the application with a timeout.
func stop(lifecycle *xhook.Lifecycle, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	return lifecycle.Stop(ctx)
}

type tenantKey struct{}

func TestAsync(t *testing.T) {
	t.Run("passes on the values of the context without its cancellation", func(t *testing.T) {
		app, lifecycle, _ := application(t)
		request := xctx.NewRequest(context.WithValue(app, tenantKey{}, "acme"), nil)
		request.SetID("request-7")
		ctx, cancel := context.WithCancel(request)
		started, release := make(chan struct{}), make(chan struct{})
		h := asyncx.Async(ctx, func(ctx context.Context) {
			close(started)
			<-release
			if ctx.Err() != nil {
				t.Errorf("the context was canceled with the request: %v", context.Cause(ctx))
			}
			if got := ctx.Value(tenantKey{}); got != "acme" {
				t.Errorf("tenant = %v, want acme", got)
			}
			if got := ctx.Value(xctx.RequestKey); got != "request-7" {
				t.Errorf("request id = %v, want request-7", got)
			}
		})
		<-started
		cancel()
		close(release)
		if err := h.Wait(t.Context()); err != nil {
			t.Error(err)
		}
		if err := stop(lifecycle, time.Minute); err != nil {
			t.Error(err)
		}
	})

	t.Run("uses the database outside the transaction", func(t *testing.T) {
		ctx := context.WithValue(t.Context(), xctx.DatabaseKey, "pool")
		tx, _ := transaction.Begin(ctx, "transaction")
		h := asyncx.Async(tx, func(ctx context.Context) {
			if got := ctx.Value(xctx.DatabaseKey); got != "pool" {
				t.Errorf("database = %v, want the pool", got)
			}
			if transaction.In(ctx) {
				t.Error("the task is in the transaction")
			}
		})
		if err := h.Wait(t.Context()); err != nil {
			t.Error(err)
		}
	})

	t.Run("rejects a gin context", func(t *testing.T) {
		gin.SetMode(gin.TestMode)
		for _, tc := range []struct {
			name string
			ctx  func(c *gin.Context) context.Context
			want bool
		}{
			{
				name: "gin context",
				ctx:  func(c *gin.Context) context.Context { return c },
				want: true,
			},
			{
				name: "derived context",
				ctx: func(c *gin.Context) context.Context {
					return context.WithValue(c, tenantKey{}, "acme")
				},
				want: true,
			},
			{
				name: "copy",
				ctx:  func(c *gin.Context) context.Context { return c.Copy() },
				want: true,
			},
			{
				name: "context of the request",
				ctx:  func(c *gin.Context) context.Context { return c.Request.Context() },
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				engine := gin.New()
				engine.GET("/", func(c *gin.Context) {
					defer func() {
						p := recover()
						if (p != nil) != tc.want {
							t.Errorf("panic = %v, want a panic: %t", p, tc.want)
						}
						if tc.want && !strings.Contains(fmt.Sprint(p), "c.Request.Context()") {
							t.Errorf("panic = %v, want a message that names c.Request.Context()", p)
						}
					}()
					h := asyncx.Async(tc.ctx(c), func(context.Context) {})
					_ = h.Wait(t.Context())
				})
				engine.ServeHTTP(httptest.NewRecorder(),
					httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil))
			})
		}
	})

	t.Run("rejects invalid arguments", func(t *testing.T) {
		for name, call := range map[string]func(){
			"nil function":            func() { asyncx.Async(t.Context(), nil) },
			"nil function with error": func() { asyncx.AsyncErr(t.Context(), nil) },
			"zero timeout": func() {
				asyncx.Async(t.Context(), func(context.Context) {}, asyncx.WithTimeout(0))
			},
			"no attempts": func() {
				asyncx.Async(t.Context(), func(context.Context) {}, asyncx.WithRetry(0, nil))
			},
			"nil logger": func() {
				asyncx.Async(t.Context(), func(context.Context) {}, asyncx.WithLogger(nil))
			},
		} {
			t.Run(name, func(t *testing.T) {
				defer func() {
					if recover() == nil {
						t.Error("no panic")
					}
				}()
				call()
			})
		}
	})

	t.Run("logs the stack of a panic", func(t *testing.T) {
		app, lifecycle, out := application(t)
		request := xctx.NewRequest(app, nil)
		request.SetID("request-8")
		h := asyncx.Async(request, panics, asyncx.WithName("broken"))
		var p *xhook.PanicError
		if err := h.Wait(t.Context()); !errors.As(err, &p) || p.Value != "out of range" {
			t.Errorf("err = %v, want the panic", err)
		}
		for _, want := range []string{
			`"work":"broken"`, "out of range", "request-8", "asyncx_test.panics",
		} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("the log does not contain %s:\n%s", want, out)
			}
		}
		if err := stop(lifecycle, time.Minute); err != nil {
			t.Error(err)
		}
	})
}

func panics(context.Context) { panic("out of range") }

func TestHandle_Name(t *testing.T) {
	h := asyncx.Async(t.Context(), panics)
	_ = h.Wait(t.Context())
	if want := "github.com/plinthgo/plinth/asyncx_test.panics"; h.Name() != want {
		t.Errorf("name = %s, want %s", h.Name(), want)
	}
}

func TestWithRetry(t *testing.T) {
	t.Run("waits according to the policy until it succeeds", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			app, lifecycle, _ := application(t)
			start := time.Now()
			var attempts []time.Duration
			h := asyncx.AsyncErr(app, func(context.Context) error {
				attempts = append(attempts, time.Since(start))
				switch len(attempts) {
				case 1:
					return errWork
				case 2:
					panic("once")
				default:
					return nil
				}
			}, asyncx.WithRetry(5, backoff.Schedule(time.Second, time.Minute)))
			if err := h.Wait(t.Context()); err != nil {
				t.Error(err)
			}
			want := []time.Duration{0, time.Second, time.Second + time.Minute}
			if fmt.Sprint(attempts) != fmt.Sprint(want) {
				t.Errorf("attempts after %s, want %s", attempts, want)
			}
			if err := stop(lifecycle, time.Minute); err != nil {
				t.Error(err)
			}
		})
	})

	t.Run("returns the last error", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			attempts := 0
			h := asyncx.AsyncErr(t.Context(), func(context.Context) error {
				attempts++
				return fmt.Errorf("attempt %d: %w", attempts, errWork)
			}, asyncx.WithRetry(3, nil))
			if err := h.Wait(t.Context()); !errors.Is(err, errWork) ||
				!strings.Contains(err.Error(), "attempt 3") {
				t.Errorf("err = %v, want the error of attempt 3", err)
			}
		})
	})
}

func TestWithTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		attempts := 0
		h := asyncx.AsyncErr(t.Context(), func(ctx context.Context) error {
			attempts++
			<-ctx.Done()
			return ctx.Err()
		}, asyncx.WithTimeout(time.Second), asyncx.WithRetry(2, backoff.Constant(0)))
		if err := h.Wait(t.Context()); !errors.Is(err, asyncx.ErrTimeout) || attempts != 2 {
			t.Errorf("err = %v after %d attempts, want ErrTimeout after 2", err, attempts)
		}
	})
}

func TestHandle_Cancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		h := asyncx.AsyncErr(t.Context(), func(context.Context) error { return errWork },
			asyncx.WithRetry(2, backoff.Constant(time.Hour)))
		synctest.Wait()
		h.Cancel()
		if err := h.Wait(t.Context()); !errors.Is(err, asyncx.ErrCanceled) {
			t.Errorf("err = %v, want ErrCanceled", err)
		}
		if elapsed := time.Since(start); elapsed != 0 {
			t.Errorf("Wait returned after %s, want 0s", elapsed)
		}
	})
}

func TestInit(t *testing.T) {
	t.Run("limits running and waiting tasks", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			app, lifecycle, _ := application(t)
			if _, err := asyncx.Init(asyncx.WithConcurrency(2),
				asyncx.WithQueueSize(3))(app); err != nil {
				t.Fatal(err)
			}
			var running atomic.Int32
			release := make(chan struct{})
			var handles []*asyncx.Handle
			for range 6 {
				handles = append(handles, asyncx.Async(app, func(context.Context) {
					running.Add(1)
					<-release
				}))
			}
			if err := handles[5].Wait(t.Context()); !errors.Is(err, asyncx.ErrFull) {
				t.Errorf("err = %v, want ErrFull", err)
			}
			synctest.Wait()
			if got := running.Load(); got != 2 {
				t.Errorf("%d concurrent tasks, want 2", got)
			}
			close(release)
			for _, h := range handles[:5] {
				if err := h.Wait(t.Context()); err != nil {
					t.Error(err)
				}
			}
			if err := stop(lifecycle, time.Minute); err != nil {
				t.Error(err)
			}
		})
	})

	t.Run("rejects late, invalid and misplaced calls", func(t *testing.T) {
		app, lifecycle, _ := application(t)
		_ = asyncx.Async(app, func(context.Context) {}).Wait(t.Context())
		if _, err := asyncx.Init(asyncx.WithConcurrency(2))(app); err == nil {
			t.Error("Init after the first task = nil, want an error")
		}
		if _, err := asyncx.Init(asyncx.WithConcurrency(0))(app); !errors.Is(err,
			asyncx.ErrOption) {
			t.Errorf("err = %v, want ErrOption", err)
		}
		if _, err := asyncx.Init()(t.Context()); err == nil {
			t.Error("Init outside an application = nil, want an error")
		}
		if err := stop(lifecycle, time.Minute); err != nil {
			t.Error(err)
		}
	})
}
