package xhelper_test

import (
	"context"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/plinthgo/plinth/core/common/xctxutil"
	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/major/xhelper"
	"github.com/plinthgo/plinth/core/major/xresult"
)

func success(c *gin.Context) { xresult.Success(c, "done") }

func TestServe_RequestID(t *testing.T) {
	t.Run("is the ID of the client if it is valid and allowed", func(t *testing.T) {
		for _, tc := range []struct {
			name  string
			allow bool
			sent  []string
			want  string // "" for a generated ID
		}{
			{name: "missing", allow: true, want: ""},
			{name: "valid", allow: true, sent: []string{"a-Z_0.9"}, want: "a-Z_0.9"},
			{name: "one character", allow: true, sent: []string{"x"}, want: "x"},
			{
				name: "longest", allow: true, sent: []string{strings.Repeat("x", 64)},
				want: strings.Repeat("x", 64),
			},
			{name: "too long", allow: true, sent: []string{strings.Repeat("x", 65)}, want: ""},
			{name: "empty", allow: true, sent: []string{""}, want: ""},
			{name: "space", allow: true, sent: []string{"a b"}, want: ""},
			{name: "line break", allow: true, sent: []string{"a\nb"}, want: ""},
			{name: "markup", allow: true, sent: []string{"<script>"}, want: ""},
			{name: "not ASCII", allow: true, sent: []string{"编号"}, want: ""},
			{name: "the first of two", allow: true, sent: []string{"one", "two"}, want: "one"},
			{name: "not allowed", allow: false, sent: []string{"valid"}, want: ""},
		} {
			t.Run(tc.name, func(t *testing.T) {
				engine, log := newEngine(t, xhelper.Config{EnableInput: tc.allow})
				engine.GET("/", success)
				req := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
				if tc.sent != nil {
					req.Header["X-Request-Uuid"] = tc.sent
				}
				w := send(engine, req)
				got := w.Header().Get("X-Request-UUID")
				if tc.want == "" {
					if u, err := uuid.Parse(got); err != nil || u.Version() != 4 {
						t.Errorf("id = %q, want a UUID of version 4", got)
					}
				} else if got != tc.want {
					t.Errorf("id = %q, want %q", got, tc.want)
				}
				if inBody := decode(t, w.Body.String())["context"]; inBody != got {
					t.Errorf("id in the body = %v, want %q", inBody, got)
				}
				if line := log.with(t, "request"); len(line) != 1 || line[0]["request_id"] != got {
					t.Errorf("access log = %v, want one line with %q", line, got)
				}
			})
		}
	})

	t.Run("is in every response", func(t *testing.T) {
		engine, _ := newEngine(t, xhelper.Config{})
		engine.GET("/panic", func(*gin.Context) { panic("boom") })
		engine.GET("/error", func(c *gin.Context) { _ = c.Error(xerror.New(xerror.NotFound, "")) })
		engine.GET("/204", func(c *gin.Context) { c.Status(http.StatusNoContent) })
		for _, path := range []string{"/panic", "/error", "/204", "/nowhere"} {
			if id := do(engine, http.MethodGet, path).Header()["X-Request-Uuid"]; len(id) != 1 ||
				len(id[0]) != 36 {
				t.Errorf("%s: X-Request-Uuid = %q, want one UUID", path, id)
			}
		}
	})
}

func TestServe_ExcludeURLs(t *testing.T) {
	engine, log := newEngine(t, xhelper.Config{EnableInput: true, ExcludeURLs: []string{
		"/healthz", "/static/**", "/img/*.png", "/v?/**/x/**/end", "/a/**/**/b", "/doc/**.html",
	}})
	engine.NoRoute(success)
	cases := []struct {
		path string
		want bool // has a request ID
	}{
		{"/healthz", false},
		{"/healthz/", true},
		{"/healthz2", true},
		{"/", true},
		{"/static", false},
		{"/static/", false},
		{"/static/a/b.css", false},
		{"/statics", true},
		{"/img/a.png", false},
		{"/img/.png", false},
		{"/img/a/b.png", true},
		{"/img/a.jpg", true},
		{"/v1/x/end", false},
		{"/v1/x/x/end/x/end", false},
		{"/v1/y/z/x/z/end", false},
		{"/v1/x/end/z", true},
		{"/v1/y/end", true},
		{"/v12/x/end", true},
		{"/a/b", false},
		{"/a/b/c/b", false},
		{"/a", true},
		{"/a/b/c", true},
		{"/doc/a.html", false},
		{"/doc/a/b.html", true}, // ** is a wildcard only as a whole segment
	}
	for _, tc := range cases {
		w := do(engine, http.MethodGet, tc.path, "X-Request-UUID", "sent")
		if got := w.Header().Get("X-Request-UUID") != ""; got != tc.want {
			t.Errorf("%s: id in the header = %t, want %t", tc.path, got, tc.want)
		}
		if got := decode(t, w.Body.String())["context"] != ""; got != tc.want {
			t.Errorf("%s: id in the body = %t, want %t", tc.path, got, tc.want)
		}
	}
	if got := len(log.with(t, "request")); got != len(cases) {
		t.Errorf("access log has %d lines, want %d: excluded paths are logged", got, len(cases))
	}
}

func TestServe_Context(t *testing.T) {
	type key struct{}
	engine := gin.New()
	engine.ContextWithFallback = true
	base, _ := capture(t)
	base = context.WithValue(base, key{}, "application")
	engine.Use(xhelper.Serve(xhelper.Config{Base: base, Debug: true, Profile: 1}))
	engine.GET("/", func(c *gin.Context) {
		r, ok := c.Request.Context().(*xctx.Request)
		if !ok || xctx.RequestFrom(c) != r {
			t.Errorf("context = %T, want *xctx.Request, also from gin", c.Request.Context())
		}
		if c.Value(key{}) != "application" || c.Value(http.ServerContextKey) != "server" {
			t.Errorf("values = %v, %v", c.Value(key{}), c.Value(http.ServerContextKey))
		}
		if !r.Debug() || r.Profile() != 1 || r.AcceptLanguage() != "zh,en" || r.Start().IsZero() {
			t.Errorf("request = %+v", r)
		}
		if got := xctxutil.GetRequestKey(c); got == "" || got != r.ID() {
			t.Errorf("GetRequestKey = %q, want %q", got, r.ID())
		}
		success(c)
	})
	ctx := context.WithValue(t.Context(), http.ServerContextKey, "server")
	ctx, cancel := context.WithCancel(ctx)
	req := httptest.NewRequestWithContext(ctx, http.MethodGet, "/", http.NoBody)
	engine.Use(func(c *gin.Context) {
		cancel()
		<-c.Done()
	})
	engine.GET("/cancel", func(c *gin.Context) {
		child, stop := context.WithCancel(c.Request.Context())
		defer stop()
		<-child.Done() // canceled by the server
		success(c)
	})
	send(engine, req, "Accept-Language", "zh", "Accept-Language", "en")
	send(engine, httptest.NewRequestWithContext(ctx, http.MethodGet, "/cancel", http.NoBody))
}

func TestServe_Nested(t *testing.T) {
	t.Run("applies each feature once", func(t *testing.T) {
		engine, log := newEngine(t, xhelper.Config{})
		config := xhelper.Config{EnableInput: true}
		engine.Use(xhelper.RequestContext(config), xhelper.Respond(config), xhelper.Serve(config))
		engine.GET("/panic", func(*gin.Context) { panic("boom") })
		engine.GET("/error", func(c *gin.Context) { _ = c.Error(xerror.New(xerror.NotFound, "")) })
		wantOutput(t, do(engine, http.MethodGet, "/panic", "X-Request-UUID", "sent"),
			http.StatusInternalServerError, "SERVER_INTERNAL_ERROR")
		wantOutput(t, do(engine, http.MethodGet, "/error", "X-Request-UUID", "sent"),
			http.StatusNotFound, "NOT_FOUND")
		if got := len(log.with(t, "request")); got != 2 {
			t.Errorf("access log has %d lines, want 2: %s", got, log)
		}
		if got := len(log.with(t, "panic")); got != 1 {
			t.Errorf("panic logged %d times, want once: %s", got, log)
		}
		if strings.Contains(log.String(), `"sent"`) {
			t.Error("the second configuration was applied")
		}
	})

	t.Run("adds features after RequestContext and Respond", func(t *testing.T) {
		ctx, log := capture(t)
		config := xhelper.Config{Base: ctx, MaxBodyBytes: 1}
		engine := gin.New()
		engine.Use(xhelper.RequestContext(config), xhelper.Respond(config), xhelper.Serve(config))
		engine.GET("/panic", func(*gin.Context) { panic("boom") })
		engine.GET("/error", func(c *gin.Context) { c.AbortWithStatus(http.StatusTeapot) })
		engine.POST("/", success)
		wantOutput(t, do(engine, http.MethodGet, "/panic"), http.StatusInternalServerError,
			"SERVER_INTERNAL_ERROR")
		wantOutput(t, do(engine, http.MethodGet, "/error"), http.StatusTeapot, "BAD_REQUEST")
		wantOutput(t, send(engine, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/",
			strings.NewReader("ab"))), http.StatusRequestEntityTooLarge, "PAYLOAD_TOO_LARGE")
		if got := len(log.with(t, "request")); got != 3 {
			t.Errorf("access log has %d lines, want 3: %s", got, log)
		}
	})
}

func TestRequestContext(t *testing.T) {
	ctx, log := capture(t)
	engine := gin.New()
	var id string
	engine.Use(xhelper.RequestContext(xhelper.Config{Base: ctx}), func(c *gin.Context) {
		c.Next()
		if got := c.Writer.Status(); got != http.StatusOK {
			t.Errorf("status in middleware = %d, want 200", got)
		}
	})
	engine.GET("/", func(c *gin.Context) {
		id = xctxutil.GetRequestKey(c.Request.Context())
		_ = c.Error(xerror.New(xerror.NotFound, ""))
	})
	w := do(engine, http.MethodGet, "/")
	if w.Code != http.StatusOK || w.Body.Len() > 0 || log.String() != "" {
		t.Errorf("got %d %q and log %q, want an empty 200 and no log", w.Code, w.Body, log)
	}
	if got := w.Header().Get("X-Request-UUID"); id == "" || got != id {
		t.Errorf("id = %q, in the response %q", id, got)
	}
}

func TestServe_Exchange(t *testing.T) {
	t.Run("is separate for a request within a request", func(t *testing.T) {
		engine, log := newEngine(t, xhelper.Config{})
		var inner *httptest.ResponseRecorder
		engine.GET("/outer", func(c *gin.Context) {
			inner = send(engine, httptest.NewRequestWithContext(c.Request.Context(), http.MethodGet,
				"/inner", http.NoBody))
			success(c)
		})
		engine.GET("/inner", success)
		outerID := do(engine, http.MethodGet, "/outer").Header().Get("X-Request-UUID")
		innerID := inner.Header().Get("X-Request-UUID")
		if innerID == outerID || innerID == "" {
			t.Errorf("ids = %q and %q, want different ids", outerID, innerID)
		}
		if got := len(log.with(t, "request")); got != 2 {
			t.Errorf("access log has %d lines, want 2", got)
		}
	})

	t.Run("is separate for a request with the context of an earlier one", func(t *testing.T) {
		engine, log := newEngine(t, xhelper.Config{})
		contexts := make(chan context.Context, 4)
		engine.GET("/", func(c *gin.Context) {
			success(c)
			contexts <- c.Request.Context()
		})
		first := do(engine, http.MethodGet, "/").Header().Get("X-Request-UUID")
		for range 3 { // gin's pool eventually reuses the gin.Context
			w := send(engine, httptest.NewRequestWithContext(<-contexts, http.MethodGet, "/",
				http.NoBody))
			if id := w.Header().Get("X-Request-UUID"); id == "" || id == first {
				t.Errorf("id = %q, want a different id than %q", id, first)
			}
		}
		if got := len(log.with(t, "request")); got != 4 {
			t.Errorf("access log has %d lines, want 4", got)
		}
	})

	t.Run("is reused after HandleContext", func(t *testing.T) {
		engine, log := newEngine(t, xhelper.Config{})
		engine.GET("/old", func(c *gin.Context) {
			c.Request.URL.Path = "/new"
			engine.HandleContext(c)
		})
		engine.GET("/new", func(c *gin.Context) { c.AbortWithStatus(http.StatusForbidden) })
		wantOutput(t, do(engine, http.MethodGet, "/old"), http.StatusForbidden, "FORBIDDEN")
		if got := log.with(t, "request"); len(got) != 1 || got[0]["path"] != "/old" {
			t.Errorf("access log = %v, want one line for /old", got)
		}
	})
}

func TestServe_TemporaryFiles(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	engine, _ := newEngine(t, xhelper.Config{})
	engine.MaxMultipartMemory = 1
	engine.POST("/", func(c *gin.Context) {
		file, err := c.FormFile("file")
		if err != nil {
			t.Fatal(err)
		}
		if files, _ := os.ReadDir(os.TempDir()); len(files) == 0 {
			t.Error("upload is not in a temporary file")
		}
		xresult.SuccessHasData(c, "done", file.Size)
	})
	s := listen(t, engine)

	var body strings.Builder
	form := multipart.NewWriter(&body)
	part, _ := form.CreateFormFile("file", "a.txt")
	_, _ = part.Write(make([]byte, 1<<16))
	_ = form.Close()
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL,
		strings.NewReader(body.String()))
	req.Header.Set("Content-Type", form.FormDataContentType())
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	s.Close() // waits for the request
	if files, _ := os.ReadDir(os.TempDir()); len(files) != 0 {
		t.Errorf("%d temporary files remain", len(files))
	}
}

func TestConfig_Check(t *testing.T) {
	config := xhelper.Config{
		ExcludeURLs: []string{"healthz", "/ok"}, QuietURLs: []string{""}, Profile: 9,
		RouteMaxBodyBytes: map[string]int64{"upload": 1},
	}
	err := config.Check()
	for _, want := range []string{
		`ExcludeURLs or CONTEXT_EXCLUDE_URLS: "healthz"`, `QuietURLs: ""`,
		"Profile", `RouteMaxBodyBytes: "upload"`,
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Check = %v, want %s in it", err, want)
		}
	}
	if err := (xhelper.Config{}).Check(); err != nil {
		t.Errorf("Check of the zero value = %v, want nil", err)
	}
	defer func() {
		if recover() == nil {
			t.Error("Serve did not panic")
		}
	}()
	xhelper.Serve(config)
}

func ExampleServe() {
	engine := gin.New()
	engine.ContextWithFallback = true
	engine.Use(xhelper.Serve(xhelper.Config{EnableInput: true, QuietURLs: []string{"/ping"}}))
	engine.GET("/ping", func(c *gin.Context) { xresult.Success(c, "pong") })

	w := do(engine, http.MethodGet, "/ping", "X-Request-UUID", "id-1")
	fmt.Println(w.Header().Get("X-Request-UUID"), w.Body)
	// Output: id-1 {"context":"id-1","output":"Success","code":200,"message":"pong"}
}
