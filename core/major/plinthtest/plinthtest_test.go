package plinthtest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"go.uber.org/goleak"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/major/plinthtest"
	"github.com/plinthgo/plinth/core/major/xhook"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xreg/xregnode"
	"github.com/plinthgo/plinth/core/major/xresult"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// routes registers the routes of the application under test.
func routes(_ context.Context, e *gin.Engine) {
	e.POST("/echo", func(c *gin.Context) {
		body, _ := io.ReadAll(c.Request.Body)
		xresult.SuccessHasData(c, "echo",
			gin.H{"type": c.ContentType(), "body": string(body), "header": c.GetHeader("X-Mine")})
	})
	e.GET("/fail", func(c *gin.Context) { _ = c.Error(xerror.New(xerror.Existed, "taken")) })
	e.GET("/plain", func(c *gin.Context) { c.JSON(http.StatusOK, gin.H{"message": "pong"}) })
	e.GET("/log", func(c *gin.Context) {
		xlog.WithName("MINE").Info(c, "said", slog.Int("n", 7))
		xresult.Success(c, "logged")
	})
}

// echo is the data of /echo.
type echo struct{ Type, Body, Header string }

func TestApp_Request(t *testing.T) {
	t.Parallel()

	t.Run("the body type selects the encoding", func(t *testing.T) {
		t.Parallel()
		app := plinthtest.New(t, xoption.WithRoute(routes))
		for _, tc := range []struct {
			name string
			body any
			want echo
		}{
			{
				name: "struct", body: struct{ A int }{1},
				want: echo{Type: "application/json", Body: `{"A":1}`},
			},
			{name: "string", body: "{", want: echo{Type: "application/json", Body: "{"}},
			{name: "bytes", body: []byte("[]"), want: echo{Type: "application/json", Body: "[]"}},
			{
				name: "reader", body: strings.NewReader("r"),
				want: echo{Type: "application/json", Body: "r"},
			},
			{
				name: "form", body: url.Values{"a": {"1 2"}},
				want: echo{Type: "application/x-www-form-urlencoded", Body: "a=1+2"},
			},
			{name: "nil", body: nil, want: echo{}},
		} {
			t.Run(tc.name, func(t *testing.T) {
				t.Parallel()
				var got echo
				if app.Request(http.MethodPost, "/echo", tc.body).Into(&got); got != tc.want {
					t.Errorf("sent %+v, want %+v", got, tc.want)
				}
			})
		}
	})

	t.Run("options change the request", func(t *testing.T) {
		t.Parallel()
		app := plinthtest.New(t, xoption.WithRoute(routes))
		var got echo
		app.Request(http.MethodPost, "/echo", "x", plinthtest.WithHeader("X-Mine", "yes"),
			plinthtest.WithHeader("Content-Type", "text/plain"),
			plinthtest.WithContext(t.Context())).Into(&got)
		if got.Header != "yes" || got.Type != "text/plain" {
			t.Errorf("sent %+v, want both headers", got)
		}
	})
}

func TestResponse(t *testing.T) {
	t.Parallel()
	app := plinthtest.New(t, xoption.WithRoute(routes))
	r := app.Request(http.MethodGet, "/fail", nil)
	if r.Status() != http.StatusBadRequest || r.Code() != xerror.Existed.GetCode() ||
		r.Output() != "EXISTED" || r.ErrorMessage() != "taken" ||
		r.Message() == "" || r.RequestID() != r.Header().Get("X-Request-UUID") {
		t.Errorf("response = %d %s", r.Status(), r.Body())
	}
	var plain struct{ Message string }
	if app.Request(http.MethodGet, "/plain", nil).JSON(&plain); plain.Message != "pong" {
		t.Errorf("plain = %+v, want pong", plain)
	}
}

func TestApp_LogsOf(t *testing.T) {
	t.Parallel()
	one := plinthtest.New(t, xoption.WithRoute(routes))
	two := plinthtest.New(t, xoption.WithRoute(routes))
	r := one.Request(http.MethodGet, "/log", nil)
	lines := one.LogsOf("said")
	if len(lines) != 1 || lines[0]["name"] != "MINE" || lines[0]["level"] != "info" ||
		lines[0]["request_id"] != r.RequestID() || lines[0]["n"] != 7.0 ||
		lines[0]["time"] == nil {
		t.Errorf("lines = %+v, want one line of the request", lines)
	}
	if got := two.LogsOf("said"); len(got) != 0 {
		t.Errorf("the other application logged %+v", got)
	}
}

func TestApp_Clock(t *testing.T) {
	t.Parallel()
	app := plinthtest.New(t)
	first := xsnowflake.MustGenerateSnowflakeID(app.Context())
	app.Clock().Advance(24 * time.Hour)
	second := xsnowflake.MustGenerateSnowflakeID(app.Context())
	if d := second.Time().Sub(first.Time()); d < 24*time.Hour || d > 24*time.Hour+time.Minute {
		t.Errorf("the second ID is %s later, want a day", d)
	}
	at := time.Date(2040, 1, 2, 3, 4, 5, 0, time.UTC)
	app.Clock().Set(at)
	got := xsnowflake.MustGenerateSnowflakeID(app.Context()).Time()
	if got.Sub(at) > time.Minute || got.Before(at) {
		t.Errorf("the time of the third ID is %s, want %s", got, at)
	}
}

func TestNew(t *testing.T) {
	t.Parallel()

	t.Run("applications generate different IDs", func(t *testing.T) {
		t.Parallel()
		seen := sync.Map{}
		for range 8 {
			app := plinthtest.New(t)
			for range 100 {
				if id := xsnowflake.MustGenerateSnowflakeID(app.Context()); id.IsZero() {
					t.Error("id is zero")
				} else if _, twice := seen.LoadOrStore(id, true); twice {
					t.Errorf("id %s generated twice", id)
				}
			}
		}
	})

	t.Run("the application stops when the test completes", func(t *testing.T) {
		var events []string
		appendEvent := func(event string) xhook.Func {
			return func(context.Context) error { events = append(events, event); return nil }
		}
		t.Run("inner", func(t *testing.T) {
			app := plinthtest.New(t, xoption.WithHealth(), xoption.WithNodes(xregnode.Node{
				Key: "n",
				Node: func(ctx context.Context) (any, error) {
					xhook.OnStart(ctx, "a", appendEvent("start"))
					xhook.OnReady(ctx, "a", appendEvent("ready"))
					xhook.OnDrain(ctx, "a", appendEvent("drain"))
					xhook.OnStop(ctx, "a", appendEvent("stop"))
					return closer{&events}, nil
				},
			}))
			app.Go(func(ctx context.Context, _ ...any) {
				<-ctx.Done()
				events = append(events, "task")
			})
			if r := app.Request(http.MethodGet, "/readyz", nil); r.Status() != http.StatusOK {
				t.Errorf("/readyz = %d %s, want ready", r.Status(), r.Body())
			}
		})
		const want = "start ready drain task stop closed"
		if got := strings.Join(events, " "); got != want {
			t.Errorf("events = %s, want %s", got, want)
		}
	})

	t.Run("errors fail the test", func(t *testing.T) {
		t.Parallel()
		for _, tc := range []struct {
			name string
			test func(tb testing.TB)
			want string
		}{
			{name: "invalid options", test: func(tb testing.TB) {
				plinthtest.New(tb, xoption.WithDrainDelay(-1),
					xoption.WithNodes(xregnode.Node{Key: xctx.DatabaseKey}))
			}, want: "start: node 1: the key \"plinth_database\" is reserved"},
			{name: "plugin not imported", test: func(tb testing.TB) {
				plinthtest.New(tb, xoption.WithDatabase())
			}, want: "github.com/plinthgo/plinth/dbplugins/sqlite"},
			{name: "cache plugin not imported", test: func(tb testing.TB) {
				plinthtest.New(tb, xoption.WithCache())
			}, want: "github.com/plinthgo/plinth/cacheplugins/memory"},
			{name: "hook", test: func(tb testing.TB) {
				plinthtest.New(tb, xoption.WithRoute(func(ctx context.Context, _ *gin.Engine) {
					xhook.OnStart(ctx, "mine",
						func(context.Context) error { return errors.New("no") })
				}))
			}, want: `start hook "mine": no`},
			{name: "task", test: func(tb testing.TB) {
				plinthtest.New(tb).Go(func(context.Context, ...any) { panic("lost") })
			}, want: "task: panic: lost"},
			{name: "failure", test: func(tb testing.TB) {
				xhook.Fail(plinthtest.New(tb).Context(), errors.New("broken"))
			}, want: "the application failed: broken"},
			{name: "no envelope", test: func(tb testing.TB) {
				app := plinthtest.New(tb, xoption.WithRoute(routes))
				app.Request(http.MethodGet, "/plain", nil).Code()
			}, want: "GET /plain: 200: no envelope"},
			{name: "data of another type", test: func(tb testing.TB) {
				app := plinthtest.New(tb, xoption.WithRoute(routes))
				app.Request(http.MethodPost, "/echo", nil).Into(new(int))
			}, want: "POST /echo: 200: "},
			{name: "body that JSON cannot represent", test: func(tb testing.TB) {
				plinthtest.New(tb).Request(http.MethodPost, "/", func() {})
			}, want: "body: "},
			{name: "log of a failed test", test: func(tb testing.TB) {
				app := plinthtest.New(tb, xoption.WithRoute(routes))
				app.Request(http.MethodGet, "/log", nil)
				tb.Errorf("wrong")
			}, want: `"msg":"said"`},
		} {
			t.Run(tc.name, func(t *testing.T) {
				t.Parallel()
				if got := run(t, tc.test); !strings.Contains(got, tc.want) {
					t.Errorf("messages\n%s\nwant %q", got, tc.want)
				}
			})
		}
	})
}

func TestApp_Engine(t *testing.T) {
	t.Parallel()
	app := plinthtest.New(t, xoption.WithRoute(routes))
	server := httptest.NewServer(app.Engine())
	defer server.Close()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/plain",
		http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		t.Errorf("status = %d, want 200", resp.StatusCode)
	}
}

// closer records its Close.
type closer struct{ events *[]string }

func (c closer) Close() { *c.events = append(*c.events, "closed") }

// recordingTB is a testing.TB that records failures and logs.
type recordingTB struct {
	testing.TB
	mu       sync.Mutex
	messages []string
	cleanups []func()
}

func (f *recordingTB) record(text string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.messages = append(f.messages, text)
}
func (f *recordingTB) Helper()                           {}
func (f *recordingTB) Errorf(format string, args ...any) { f.record(fmt.Sprintf(format, args...)) }
func (f *recordingTB) Logf(format string, args ...any)   { f.record(fmt.Sprintf(format, args...)) }
func (f *recordingTB) Fatalf(format string, args ...any) { f.Errorf(format, args...); panic(f) }
func (f *recordingTB) FailNow()                          { panic(f) }
func (f *recordingTB) Failed() bool                      { return len(f.messages) > 0 }
func (f *recordingTB) Cleanup(fn func())                 { f.cleanups = append(f.cleanups, fn) }

// run runs a test that is expected to fail, and returns its messages.
func run(t *testing.T, test func(tb testing.TB)) string {
	t.Helper()
	f := &recordingTB{TB: t}
	func() {
		defer func() {
			if v := recover(); v != nil && v != any(f) {
				panic(v)
			}
		}()
		test(f)
	}()
	for _, cleanup := range slices.Backward(f.cleanups) {
		cleanup()
	}
	return strings.Join(f.messages, "\n")
}
