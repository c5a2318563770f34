package xmiddle_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/major/xhelper"
	"github.com/plinthgo/plinth/core/major/xmiddle"
	"github.com/plinthgo/plinth/core/major/xresult"
)

func build(t *testing.T, config xmiddle.CORSConfig) *gin.Engine {
	t.Helper()
	handler, err := xmiddle.CORS(config)
	if err != nil {
		t.Fatal(err)
	}
	return newEngine(xhelper.Config{}, handler, xmiddle.AllowOption)
}

// corsOf returns the headers of CORS in alphabetical order, without their common prefix.
func corsOf(h http.Header) string {
	var found []string
	for name, values := range h {
		if short, ok := strings.CutPrefix(name, "Access-Control-"); ok {
			found = append(found, short+": "+strings.Join(values, "|"))
		}
	}
	slices.Sort(found)
	return strings.Join(found, "; ")
}

func TestCORS_Origins(t *testing.T) {
	engine := build(t, xmiddle.CORSConfig{
		AllowOrigins: []string{
			"https://app.example.com", "https://*.example.org",
			"http://*.local.test:8080", "http://localhost:3000", "http://[::1]:3000",
		},
		AllowOriginFunc: func(origin string) bool { return origin == "https://by.func" },
	})
	for _, tc := range []struct {
		origin string
		want   bool
	}{
		{"https://app.example.com", true},
		{"https://app.example.com.evil.net", false},
		{"https://evil-app.example.com", false},
		{"http://app.example.com", false},
		{"https://app.example.com:8443", false},
		{"https://a.example.org", true},
		{"https://a.b-c.example.org", true},
		{"https://example.org", false},
		{"https://.example.org", false},
		{"https://evil.net/.example.org", false},
		{"https://evil.net@a.example.org", false},
		{"https://evil.net:1.example.org", false},
		{"https://evilexample.org", false},
		{"https://a.example.org:8443", false},
		{"http://a.local.test:8080", true},
		{"http://a.local.test", false},
		{"http://localhost:3000", true},
		{"http://[::1]:3000", true},
		{"https://by.func", true},
		{"null", false},
		{"*", false},
		{"https://*.example.org", false}, // a pattern is not an origin
		{"", false},
	} {
		w := do(engine, http.MethodGet, "/item", "Origin", tc.origin)
		want := ""
		if tc.want {
			want = "Allow-Origin: " + tc.origin + "; Expose-Headers: X-Request-UUID"
		}
		if got := corsOf(w.Header()); got != want {
			t.Errorf("%q: got %q, want %q", tc.origin, got, want)
		}
		if got := w.Header().Values("Vary"); !slices.Equal(got, []string{"Origin"}) ||
			w.Code != http.StatusOK {
			t.Errorf("%q: got %d with Vary %q, want 200 with Origin", tc.origin, w.Code, got)
		}
	}
	if w := do(engine, http.MethodGet, "/item", "Origin", "https://a.example.org", "Origin",
		"https://b.example.org"); corsOf(w.Header()) != "" {
		t.Errorf("two origins: got %q", corsOf(w.Header()))
	}
	if w := do(engine, http.MethodGet, "/item"); corsOf(w.Header()) != "" ||
		w.Header().Get("Vary") != "Origin" {
		t.Errorf("no origin: got %q with Vary %q", corsOf(w.Header()), w.Header().Get("Vary"))
	}
}

func TestCORS_Preflight(t *testing.T) {
	const origin = "https://app.example.com"
	one := []string{origin}
	for _, tc := range []struct {
		name    string
		config  xmiddle.CORSConfig
		path    string
		headers string
		method  string
		want    string
	}{
		{
			name:   "defaults, methods of the path",
			config: xmiddle.CORSConfig{AllowOrigins: one}, path: "/item", method: "PUT",
			want: "Allow-Headers: Accept-Language, Authorization, Content-Type, X-Request-UUID; " +
				"Allow-Methods: GET, PUT; Allow-Origin: " + origin,
		},
		{
			name: "unknown path, methods of the policy", path: "/nowhere", method: "PUT",
			config: xmiddle.CORSConfig{
				AllowOrigins: one, AllowMethods: []string{"PUT", "PURGE"},
				AllowHeaders: []string{"X-A"},
			},
			want: "Allow-Headers: X-A; Allow-Methods: PUT, PURGE; Allow-Origin: " + origin,
		},
		{
			name: "methods in the order of the policy", path: "/item", method: "PUT",
			config: xmiddle.CORSConfig{
				AllowOrigins: one,
				AllowMethods: []string{"PUT", "PURGE", "GET"}, AllowHeaders: []string{"X-A"},
			},
			want: "Allow-Headers: X-A; Allow-Methods: PUT, GET; Allow-Origin: " + origin,
		},
		{
			name: "no method in common", path: "/item", method: "DELETE",
			config: xmiddle.CORSConfig{
				AllowOrigins: one, AllowMethods: []string{"DELETE"},
				AllowHeaders: []string{"X-A"},
			},
			want: "Allow-Headers: X-A; Allow-Origin: " + origin,
		},
		{
			name: "every header", path: "/item", method: "GET", headers: "authorization,x-b",
			config: xmiddle.CORSConfig{
				AllowOrigins: one, AllowHeaders: []string{"*"},
				AllowCredentials: true, MaxAge: 10 * time.Minute,
			},
			want: "Allow-Credentials: true; Allow-Headers: authorization,x-b; " +
				"Allow-Methods: GET, PUT; Allow-Origin: " + origin + "; Max-Age: 600",
		},
		{
			name: "invalid header name", path: "/item", method: "GET", headers: "x-a, x\tb",
			config: xmiddle.CORSConfig{AllowOrigins: one, AllowHeaders: []string{"*"}},
			want:   "Allow-Methods: GET, PUT; Allow-Origin: " + origin,
		},
		{
			name: "every method of an unknown path", path: "/nowhere", method: "PURGE",
			config: xmiddle.CORSConfig{
				AllowOrigins: one, AllowMethods: []string{"*"},
				AllowHeaders: []string{"X-A"}, MaxAge: -time.Second,
			},
			want: "Allow-Headers: X-A; Allow-Methods: PURGE; Allow-Origin: " + origin +
				"; Max-Age: 0",
		},
		{
			name: "invalid method name", path: "/nowhere", method: "PU T",
			config: xmiddle.CORSConfig{
				AllowOrigins: one, AllowMethods: []string{"*"},
				AllowHeaders: []string{"X-A"},
			},
			want: "Allow-Headers: X-A; Allow-Origin: " + origin,
		},
		{
			name: "a path with a handler for OPTIONS", path: "/other", method: "GET",
			config: xmiddle.CORSConfig{
				AllowOrigins: one, AllowMethods: []string{"GET"},
				AllowHeaders: []string{"X-A"},
			},
			want: "Allow-Headers: X-A; Allow-Methods: GET; Allow-Origin: " + origin,
		},
		{
			name: "another origin", path: "/item", method: "PUT",
			config: xmiddle.CORSConfig{AllowOrigins: []string{"https://other.example.com"}},
			want:   "",
		},
		{
			name: "private networks", path: "/item", method: "PUT",
			config: xmiddle.CORSConfig{AllowOrigins: one, AllowHeaders: []string{"X-A"}},
			want:   "Allow-Headers: X-A; Allow-Methods: GET, PUT; Allow-Origin: " + origin,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			header := []string{
				"Origin", origin, "Access-Control-Request-Method",
				tc.method, "Access-Control-Request-Private-Network", "true",
			}
			if tc.headers != "" {
				header = append(header, "Access-Control-Request-Headers", tc.headers)
			}
			w := do(build(t, tc.config), http.MethodOptions, tc.path, header...)
			if got := corsOf(w.Header()); got != tc.want {
				t.Errorf("got  %q\nwant %q", got, tc.want)
			}
			if w.Code != http.StatusNoContent || w.Body.Len() != 0 {
				t.Errorf("got %d %q, want an empty 204", w.Code, w.Body)
			}
			want := "Origin, Access-Control-Request-Method, Access-Control-Request-Headers"
			if got := strings.Join(w.Header().Values("Vary"), ", "); got != want {
				t.Errorf("Vary = %q, want %q", got, want)
			}
		})
	}
}

func TestCORS_RequestedHeaders(t *testing.T) {
	engine := build(t, xmiddle.CORSConfig{AllowOrigins: []string{"*"}, AllowHeaders: []string{"*"}})
	for second, want := range map[string]string{"x-b": "x-a, x-b", "x\tb": "", "": ""} {
		w := do(engine, http.MethodOptions, "/item",
			"Origin", "https://a.example.com", "Access-Control-Request-Method", "GET",
			"Access-Control-Request-Headers", "x-a", "Access-Control-Request-Headers", second)
		if got := w.Header().Get("Access-Control-Allow-Headers"); got != want {
			t.Errorf("second line %q: Access-Control-Allow-Headers = %q, want %q",
				second, got, want)
		}
	}
}

func TestCORS(t *testing.T) {
	t.Run("ignores an OPTIONS request that is not a preflight", func(t *testing.T) {
		engine := build(t, xmiddle.CORSConfig{AllowOrigins: []string{"https://app.example.com"}})
		w := do(engine, http.MethodOptions, "/item", "Origin", "https://app.example.com")
		if w.Code != http.StatusNoContent || w.Header().Get("Allow") != "GET, PUT, OPTIONS" {
			t.Errorf("got %d, Allow %q", w.Code, w.Header().Get("Allow"))
		}
		if w := do(engine, http.MethodOptions, "/other"); w.Body.String() != "mine" {
			t.Errorf("body = %q, want mine", w.Body)
		}
	})

	t.Run("sets the headers of error responses", func(t *testing.T) {
		engine := build(t, xmiddle.CORSConfig{AllowOrigins: []string{"https://app.example.com"}})
		engine.GET("/error", func(c *gin.Context) { _ = c.Error(xerror.New(xerror.NotFound, "")) })
		engine.GET("/panic", func(*gin.Context) { panic("boom") })
		for _, path := range []string{"/error", "/panic", "/nowhere"} {
			w := do(engine, http.MethodGet, path, "Origin", "https://app.example.com")
			got := w.Header().Get("Access-Control-Allow-Origin")
			if got != "https://app.example.com" {
				t.Errorf("%s: Access-Control-Allow-Origin = %q", path, got)
			}
		}
	})
}

func TestReleaseAllCors(t *testing.T) {
	engine := newEngine(xhelper.Config{}, xmiddle.ReleaseAllCors)
	w := do(engine, http.MethodGet, "/item", "Origin", "https://anywhere.example", "Cookie", "a=b")
	want := "Allow-Origin: *; Expose-Headers: X-Request-UUID"
	if got := corsOf(w.Header()); got != want || w.Header().Get("Vary") != "" {
		t.Errorf("got %q with Vary %q, want %q without Vary", got, w.Header().Get("Vary"), want)
	}
	w = do(engine, http.MethodOptions, "/item", "Origin", "https://anywhere.example",
		"Access-Control-Request-Method", "PUT", "Access-Control-Request-Headers",
		"authorization,x-mine")
	want = "Allow-Headers: authorization,x-mine; Allow-Methods: GET, PUT; Allow-Origin: *"
	if got := corsOf(w.Header()); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestCORS_InvalidPolicy(t *testing.T) {
	t.Run("reports all problems", func(t *testing.T) {
		handler, err := xmiddle.CORS(xmiddle.CORSConfig{
			AllowOrigins: []string{
				"null", "example.com", "https://", "https://example.com/",
				"https://a.example.com/path", "https://user@example.com",
				"https://Example.com", "https://example.com:443", "http://example.com:80",
				"https://*.com", "https://a.*.com", "https://*", "https://例子.com",
				"https://example.com:", "https://example.com?q", "https://a..b",
			},
			AllowMethods:  []string{"get", "CONNECT", "TRACE", "TRACK", "PU T", ""},
			AllowHeaders:  []string{"X A", ""},
			ExposeHeaders: []string{"*", "Set-Cookie", "X A"},

			AllowCredentials: true,
			MaxAge:           1500 * time.Millisecond,
		})
		if handler != nil || err == nil {
			t.Fatal("CORS accepted the policy")
		}
		lines := strings.Split(err.Error(), "\n")
		if want := 16 + 6 + 2 + 3 + 1; len(lines) != want {
			t.Errorf("got %d problems, want %d:\n%v", len(lines), want, err)
		}
		for _, line := range lines {
			if !strings.HasPrefix(line, "xmiddle: CORS: ") {
				t.Errorf("line %q has no prefix", line)
			}
		}
	})

	t.Run("rejects contradictions", func(t *testing.T) {
		for name, config := range map[string]xmiddle.CORSConfig{
			"no origin":                   {},
			"any origin with credentials": {AllowOrigins: []string{"*"}, AllowCredentials: true},
			"any origin and another":      {AllowOrigins: []string{"*", "https://example.com"}},
			"any origin and a function": {
				AllowOrigins:    []string{"*"},
				AllowOriginFunc: func(string) bool { return true },
			},
			"all exposed headers with credentials": {
				AllowOrigins:     []string{"https://example.com"},
				AllowCredentials: true, ExposeHeaders: []string{"*"},
			},
		} {
			t.Run(name, func(t *testing.T) {
				if _, err := xmiddle.CORS(config); err == nil {
					t.Error("CORS accepted the policy")
				}
				defer func() {
					if recover() == nil {
						t.Error("MustCORS did not panic")
					}
				}()
				xmiddle.MustCORS(config)
			})
		}
	})
}

func ExampleCORS() {
	policy, err := xmiddle.CORS(xmiddle.CORSConfig{
		AllowOrigins:     []string{"https://app.example.com", "https://*.preview.example.com"},
		AllowCredentials: true,
		MaxAge:           10 * time.Minute,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	engine := gin.New()
	engine.Use(policy)
	engine.GET("/item", func(c *gin.Context) { xresult.Success(c, "done") })
	w := do(engine, http.MethodGet, "/item", "Origin", "https://pr-7.preview.example.com")
	fmt.Println(w.Header().Get("Access-Control-Allow-Origin"))
	// Output: https://pr-7.preview.example.com
}
