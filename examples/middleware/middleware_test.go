package middleware_test

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/gin-contrib/cors"
	gingzip "github.com/gin-contrib/gzip"
	"github.com/gin-contrib/requestid"
	"github.com/gin-contrib/sessions"
	"github.com/gin-contrib/sessions/cookie"
	"github.com/gin-gonic/gin"
	"github.com/prometheus/client_golang/prometheus"
	ginprometheus "github.com/zsais/go-gin-prometheus"
	"go.opentelemetry.io/contrib/instrumentation/github.com/gin-gonic/gin/otelgin"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xvalid"
	"github.com/plinthgo/plinth/core/major/xbind"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xreg"
	"github.com/plinthgo/plinth/core/major/xresult"
)

// limit is the maximum body size of the application.
const limit = 100

type item struct {
	Name string `json:"name" form:"name" binding:"required"`
}

// endings maps names to handlers, each of which completes a request in a different way.
var endings = map[string]struct {
	handler gin.HandlerFunc
	status  int
}{
	"success": {func(c *gin.Context) { xresult.Success(c, "done") }, 200},
	"created": {func(c *gin.Context) {
		c.Status(http.StatusCreated)
		xresult.Success(c, "done")
	}, 201},
	"no-content": {func(c *gin.Context) { c.Status(http.StatusNoContent) }, 204},
	"redirect":   {func(c *gin.Context) { c.Redirect(http.StatusSeeOther, "/success") }, 303},
	"error": {func(c *gin.Context) {
		_ = c.Error(xerror.New(xerror.NotFound, "no such item"))
	}, 404},
	"conflict": {func(c *gin.Context) {
		_ = c.Error(fmt.Errorf("save: %w", xerror.UniqueConstraint))
	}, 409},
	"unknown-error": {func(c *gin.Context) { _ = c.Error(errors.New("unknown")) }, 500},
	"deadline":      {func(c *gin.Context) { _ = c.Error(context.DeadlineExceeded) }, 504},
	"abort":         {func(c *gin.Context) { c.AbortWithStatus(http.StatusTooManyRequests) }, 429},
	"abort-error": {func(c *gin.Context) {
		_ = c.AbortWithError(http.StatusTeapot, errors.New("x"))
	}, 418},
	"written": {func(c *gin.Context) {
		xresult.AbortError(c, xerror.Forbidden, "", nil)
	}, 403},
	"nothing":  {func(*gin.Context) {}, 500},
	"bind":     {func(c *gin.Context) { xbind.Bind(c, &item{}).Data() }, 400},
	"bind-gin": {func(c *gin.Context) { _ = c.BindJSON(&item{}) }, 400},
	"bind-validation": {func(c *gin.Context) {
		xvalid.HandleValidationError(c, c.ShouldBindJSON(&item{}))
	}, 400},
	"query": {func(c *gin.Context) { xbind.Bind(c, &item{}).Query() }, 400},
	"panic": {func(*gin.Context) { panic("boom") }, 500},
}

// requests are sent in addition to one request for each ending.
var requests = []struct {
	name, method, path string
	body               func() io.Reader
	status             int
}{
	{"an unknown path", http.MethodGet, "/nowhere", noBody, 404},
	{"an unknown method", http.MethodDelete, "/items/error", noBody, 405},
	{"a body over the limit", http.MethodPost, "/items/bind", tooLarge, 413},
	{
		"a body over the limit in chunks", http.MethodPost, "/items/bind",
		func() io.Reader { return io.MultiReader(tooLarge()) }, 413,
	},
	{"an unread body over the limit", http.MethodPost, "/items/success", tooLarge, 413},
}

func noBody() io.Reader { return http.NoBody }

func tooLarge() io.Reader { return strings.NewReader(strings.Repeat(" ", limit+1)) }

// mounts maps the places for middleware to functions that return the options to install
// it.
var mounts = map[string]func(mw gin.HandlerFunc) []xoption.Option{
	"engine": func(mw gin.HandlerFunc) []xoption.Option {
		return []xoption.Option{
			xoption.WithEngine(func(e *gin.Engine) { e.Use(mw) }),
			routes(func(r gin.IRouter) gin.IRouter { return r }),
		}
	},
	"group": func(mw gin.HandlerFunc) []xoption.Option {
		return []xoption.Option{routes(func(r gin.IRouter) gin.IRouter { return r.Group("", mw) })}
	},
	"route": func(mw gin.HandlerFunc) []xoption.Option {
		return []xoption.Option{routes(func(r gin.IRouter) gin.IRouter { return r }, mw)}
	},
}

// routes registers the handlers of endings.
func routes(in func(gin.IRouter) gin.IRouter, before ...gin.HandlerFunc) xoption.Option {
	return xoption.WithRoute(func(_ context.Context, e *gin.Engine) {
		r := in(e)
		for name, ending := range endings {
			r.POST("/items/"+name, append(before, ending.handler)...)
		}
	})
}

// serve starts an application with a real listener.
func serve(t *testing.T, options ...xoption.Option) *httptest.Server {
	t.Helper()
	t.Setenv("PLINTH_DEBUG", "false")
	options = append(options, xoption.WithMaxBodyBytes(limit))
	reg, err := xreg.New(t.Context(), nil, options...)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(reg.Serve)
	t.Cleanup(s.Close)
	return s
}

// received is a response without its body.
type received struct {
	StatusCode int
	Header     http.Header
}

// send sends a request and returns the response and its body.
func send(
	t *testing.T, s *httptest.Server, method, path string, body io.Reader, header ...string,
) (received, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, body)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	client := &http.Client{
		Transport: &http.Transport{DisableCompression: true, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		},
	}
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return received{res.StatusCode, res.Header}, string(text)
}

// observer is a middleware that records the status of each request.
type observer struct {
	middleware gin.HandlerFunc
	// seen returns the statuses since the last call.
	seen func(t *testing.T) []string
	// panics reports whether the middleware records handlers that panic.
	panics bool
}

var observers = map[string]func(t *testing.T) observer{
	"prometheus":        prometheusClient,
	"go-gin-prometheus": ginPrometheus,
	"otelgin":           tracing,
}

func TestMiddleware_Status(t *testing.T) {
	for name, observe := range observers {
		for place, mount := range mounts {
			t.Run(name+" on the "+place, func(t *testing.T) {
				o := observe(t)
				s := serve(t, mount(o.middleware)...)
				check := func(what string, res received, want int) {
					t.Helper()
					seen := o.seen(t)
					if res.StatusCode != want {
						t.Errorf("%s: status %d, want %d", what, res.StatusCode, want)
					}
					if len(seen) != 1 || seen[0] != strconv.Itoa(res.StatusCode) {
						t.Errorf("%s: status %d, the middleware recorded %v",
							what, res.StatusCode, seen)
					}
				}
				for ending, want := range endings {
					res, _ := send(t, s, http.MethodPost, "/items/"+ending, strings.NewReader("{}"))
					if ending == "panic" && !o.panics {
						continue
					}
					check(ending, res, want.status)
				}
				for _, r := range requests {
					if r.status != http.StatusRequestEntityTooLarge && place != "engine" {
						continue // it matches no route
					}
					res, _ := send(t, s, r.method, r.path, r.body())
					check(r.name, res, r.status)
				}
			})
		}
	}
}

// prometheusClient is the example of the promhttp documentation, adapted to gin. It
// counts in a deferred function, so it also counts panics.
func prometheusClient(t *testing.T) observer {
	t.Helper()
	registry := prometheus.NewRegistry()
	total := prometheus.NewCounterVec(
		prometheus.CounterOpts{Name: "app_requests_total"}, []string{"code"})
	registry.MustRegister(total)
	return observer{panics: true, seen: codes(registry), middleware: func(c *gin.Context) {
		defer func() { total.WithLabelValues(strconv.Itoa(c.Writer.Status())).Inc() }()
		c.Next()
	}}
}

func ginPrometheus(t *testing.T) observer {
	t.Helper()
	registry := prometheus.NewRegistry()
	before := prometheus.DefaultRegisterer
	t.Cleanup(func() { prometheus.DefaultRegisterer = before })
	prometheus.DefaultRegisterer = registry
	return observer{
		seen:       codes(registry),
		middleware: ginprometheus.NewPrometheus("app").HandlerFunc(),
	}
}

// codes returns a function that returns the codes counted in app_requests_total since its
// last call.
func codes(registry prometheus.Gatherer) func(*testing.T) []string {
	before := map[string]float64{}
	return func(t *testing.T) []string {
		t.Helper()
		families, err := registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		now := map[string]float64{}
		for _, family := range families {
			if family.GetName() != "app_requests_total" {
				continue
			}
			for _, metric := range family.GetMetric() {
				for _, label := range metric.GetLabel() {
					if label.GetName() == "code" {
						now[label.GetValue()] += metric.GetCounter().GetValue()
					}
				}
			}
		}
		var seen []string
		for code, count := range now {
			for range int(count - before[code]) {
				seen = append(seen, code)
			}
		}
		before = now
		return seen
	}
}

func tracing(t *testing.T) observer {
	t.Helper()
	recorder := tracetest.NewSpanRecorder()
	provider := trace.NewTracerProvider(trace.WithSpanProcessor(recorder))
	return observer{
		middleware: otelgin.Middleware("app", otelgin.WithTracerProvider(provider)),
		seen: func(*testing.T) []string {
			defer recorder.Reset()
			var seen []string
			for _, span := range recorder.Ended() {
				for _, a := range span.Attributes() {
					if a.Key == "http.response.status_code" {
						seen = append(seen, a.Value.String())
					}
				}
			}
			return seen
		},
	}
}

// TestMiddleware_Errors checks that middleware that changes the response does not break
// errors that Plinth writes outside of it.
func TestMiddleware_Errors(t *testing.T) {
	stack := []gin.HandlerFunc{
		gingzip.Gzip(gingzip.DefaultCompression),
		requestid.New(),
		cors.New(cors.Config{AllowOrigins: []string{"https://app.example"}}),
		sessions.Sessions("session", cookie.NewStore([]byte("a key of at least thirty-two bytes"))),
	}
	s := serve(t, xoption.WithEngine(func(e *gin.Engine) { e.Use(stack...) }),
		routes(func(r gin.IRouter) gin.IRouter { return r }))
	wantEnvelope := func(what string, res received, text string, status int) {
		t.Helper()
		var envelope struct{ Code int }
		body := []byte(text)
		if res.Header.Get("Content-Encoding") == "gzip" && text != "" {
			r, err := gzip.NewReader(strings.NewReader(text))
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			if body, err = io.ReadAll(r); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
		}
		if status >= http.StatusBadRequest || status == http.StatusOK {
			if err := json.Unmarshal(body, &envelope); err != nil {
				t.Errorf("%s: body %q: %v", what, body, err)
			}
		}
		if res.StatusCode != status {
			t.Errorf("%s: status %d, want %d", what, res.StatusCode, status)
		}
		if res.Header.Get("Access-Control-Allow-Origin") == "" ||
			res.Header.Get("X-Request-ID") == "" {
			t.Errorf("%s: header %v, want the headers of the middleware", what, res.Header)
		}
	}
	header := []string{"Accept-Encoding", "gzip", "Origin", "https://app.example"}
	for ending, want := range endings {
		res, text := send(t, s, http.MethodPost, "/items/"+ending, strings.NewReader("{}"),
			header...)
		wantEnvelope(ending, res, text, want.status)
	}
	for _, r := range requests {
		res, text := send(t, s, r.method, r.path, r.body(), header...)
		wantEnvelope(r.name, res, text, r.status)
	}
}

func TestMain(m *testing.M) {
	gin.SetMode(gin.ReleaseMode)
	os.Exit(m.Run())
}
