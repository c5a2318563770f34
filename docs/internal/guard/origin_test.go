package guard_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plinthgo/plinth/docs/internal/guard"
)

var (
	local  = &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8080}
	public = &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 8080}
)

// send serves a request that arrived at an address of the server.
func send(
	t *testing.T, c guard.Config, at net.Addr, method, url string, header http.Header,
) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, url, strings.NewReader(listTools))
	r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, at))
	r.Header = header
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	guard.New(c, endpoint()).ServeHTTP(w, r)
	return w
}

func TestGuard_Origin(t *testing.T) {
	config := guard.Config{Origins: []string{
		"https://Docs.example.com",
		"http://app.example.com:3000", "bad", "https://x.example.com/path",
	}}
	for _, tc := range []struct {
		name   string
		at     net.Addr
		url    string
		origin []string
		want   int
	}{
		{name: "no origin", at: public, url: "http://192.0.2.1:8080/", want: 200},
		{
			name: "own", at: public, url: "http://192.0.2.1:8080/",
			origin: []string{"http://192.0.2.1:8080"}, want: 200,
		},
		{
			name: "own behind TLS", at: public, url: "http://a.example.com/",
			origin: []string{"https://a.example.com"}, want: 200,
		},
		{
			name: "own with the default port", at: public, url: "http://a.example.com:443/",
			origin: []string{"https://a.example.com"}, want: 200,
		},
		{
			name: "own without TLS at a server with TLS", at: public, url: "https://a.example.com/",
			origin: []string{"http://a.example.com"}, want: 403,
		},
		{
			name: "own with another port", at: public, url: "http://192.0.2.1:8080/",
			origin: []string{"http://192.0.2.1:9090"}, want: 403,
		},
		{
			name: "own host, another scheme", at: public, url: "http://a.example.com/",
			origin: []string{"ftp://a.example.com"}, want: 403,
		},
		{
			name: "configured", at: public, url: "http://192.0.2.1:8080/",
			origin: []string{"https://docs.example.com"}, want: 200,
		},
		{
			name: "configured with the default port", at: public, url: "http://192.0.2.1:8080/",
			origin: []string{"https://docs.example.com:443"}, want: 200,
		},
		{
			name: "configured with a port", at: public, url: "http://192.0.2.1:8080/",
			origin: []string{"http://app.example.com:3000"}, want: 200,
		},
		{
			name: "configured with another scheme", at: public, url: "http://192.0.2.1:8080/",
			origin: []string{"http://docs.example.com"}, want: 403,
		},
		{
			name: "configured but invalid", at: public, url: "http://192.0.2.1:8080/",
			origin: []string{"https://x.example.com"}, want: 403,
		},
		{
			name: "configured as a prefix", at: public, url: "http://192.0.2.1:8080/",
			origin: []string{"https://docs.example.com.evil.example"}, want: 403,
		},
		{
			name: "foreign", at: public, url: "http://192.0.2.1:8080/",
			origin: []string{"https://evil.example"}, want: 403,
		},
		{
			name: "null", at: public, url: "http://192.0.2.1:8080/",
			origin: []string{"null"}, want: 403,
		},
		{name: "empty", at: public, url: "http://192.0.2.1:8080/", origin: []string{""}, want: 403},
		{
			name: "with a path", at: public, url: "http://192.0.2.1:8080/",
			origin: []string{"http://192.0.2.1:8080/"}, want: 403,
		},
		{
			name: "with a user", at: public, url: "http://192.0.2.1:8080/",
			origin: []string{"http://u@192.0.2.1:8080"}, want: 403,
		},
		{
			name: "repeated", at: public, url: "http://192.0.2.1:8080/",
			origin: []string{"http://192.0.2.1:8080", "https://evil.example"}, want: 403,
		},
		{
			name: "loopback to a public address", at: public, url: "http://192.0.2.1:8080/",
			origin: []string{"http://localhost:3000"}, want: 403,
		},
		{
			name: "loopback to a public address by a loopback name", at: public,
			url: "http://localhost/", origin: []string{"http://localhost:3000"}, want: 403,
		},
		{
			name: "loopback to loopback", at: local, url: "http://localhost:8080/",
			origin: []string{"http://127.0.0.1:3000"}, want: 200,
		},
		{
			name: "loopback of IPv6", at: local, url: "http://[::1]:8080/",
			origin: []string{"http://[::1]:3000"}, want: 200,
		},
		{
			name: "loopback by another scheme", at: local, url: "http://localhost:8080/",
			origin: []string{"ftp://127.0.0.1:3000"}, want: 403,
		},
		{
			name: "a name that starts like loopback", at: local, url: "http://localhost:8080/",
			origin: []string{"http://localhost.evil.example"}, want: 403,
		},
		{name: "rebinding", at: local, url: "http://evil.example:8080/", want: 403},
		{
			name: "rebinding with its own origin", at: local, url: "http://evil.example:8080/",
			origin: []string{"http://evil.example:8080"}, want: 403,
		},
		{
			name: "a proxy on the same machine", at: local, url: "http://docs.example.com/",
			origin: []string{"https://docs.example.com"}, want: 200,
		},
		{
			name: "a proxy that adds the port", at: local, url: "http://docs.example.com:443/",
			want: 200,
		},
		{
			name: "a configured host with another port",
			at:   local, url: "http://docs.example.com:8080/", want: 403,
		},
		{
			name: "any name at a public address", at: public, url: "http://service.internal/",
			want: 200,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			header := http.Header{}
			if tc.origin != nil {
				header["Origin"] = tc.origin
			}
			w := send(t, config, tc.at, http.MethodPost, tc.url, header)
			if w.Code != tc.want {
				t.Fatalf("status is %d, want %d: %s", w.Code, tc.want, w.Body)
			}
			checkCORS(t, w, tc.origin)
		})
	}
}

// checkCORS checks that only allowed origins can read the response, and that a rejection
// is a protocol error.
func checkCORS(t *testing.T, w *httptest.ResponseRecorder, origin []string) {
	t.Helper()
	reflected := w.Header().Get("Access-Control-Allow-Origin")
	if allowed := w.Code == http.StatusOK && origin != nil; allowed != (reflected != "") {
		t.Errorf("Access-Control-Allow-Origin is %q", reflected)
	}
	if w.Header().Get("Vary") != "Origin" {
		t.Errorf("Vary is %q, want Origin", w.Header().Get("Vary"))
	}
	if w.Code != http.StatusForbidden {
		return
	}
	res := reply{status: w.Code, header: w.Header(), body: w.Body.String()}
	if got, want := res.read(t), (result{Status: 403, Code: -32600}); got != want {
		t.Errorf("result is %+v, want %+v", got, want)
	}
}

func TestGuard_ForwardedHeaders(t *testing.T) {
	header := http.Header{
		"Origin": {"https://evil.example"}, "X-Forwarded-Host": {"evil.example"},
		"Forwarded":       {"host=evil.example"},
		"X-Forwarded-For": {"127.0.0.1"},
	}
	if w := send(t, guard.Config{}, public, http.MethodPost, "http://192.0.2.1:8080/",
		header); w.Code != http.StatusForbidden {
		t.Errorf("status is %d, want 403", w.Code)
	}
}

func TestGuard_CORS(t *testing.T) {
	t.Run("the preflight lists the headers of the protocol", func(t *testing.T) {
		w := send(t, guard.Config{Origins: []string{"https://docs.example.com"}}, public,
			http.MethodOptions, "http://192.0.2.1:8080/", http.Header{
				"Origin": {"https://docs.example.com"}, "Access-Control-Request-Method": {"POST"},
			})
		got := w.Header().Clone()
		got.Del("X-Request-UUID")
		want := http.Header{
			"Access-Control-Allow-Headers": {"Content-Type, Accept, Authorization, Mcp-Session-Id, MCP-Protocol-Version, Mcp-Method, Mcp-Name, " +
				"Last-Event-ID, X-Request-UUID"},
			"Access-Control-Allow-Methods": {"POST"},
			"Access-Control-Allow-Origin":  {"https://docs.example.com"},
			"Access-Control-Max-Age":       {"7200"},
			"Allow":                        {"POST, OPTIONS"},
			"Connection":                   {"close"}, // the handler does not read the body
			"Vary":                         {"Origin"},
		}
		if diff := cmp.Diff(want, got); w.Code != http.StatusNoContent || diff != "" {
			t.Errorf("status %d, headers (-want +got):\n%s", w.Code, diff)
		}
	})

	t.Run("OPTIONS without an origin has no CORS headers", func(t *testing.T) {
		w := send(t, guard.Config{}, public, http.MethodOptions, "http://192.0.2.1:8080/", http.Header{})
		for name := range w.Header() {
			if strings.HasPrefix(name, "Access-Control-") {
				t.Errorf("unexpected header %s", name)
			}
		}
		if w.Code != http.StatusNoContent || w.Header().Get("Allow") != "POST, OPTIONS" {
			t.Errorf("status %d, Allow %q", w.Code, w.Header().Get("Allow"))
		}
	})

	t.Run("errors have CORS headers", func(t *testing.T) {
		w := send(t, guard.Config{}, public, http.MethodGet, "http://a.example.com/",
			http.Header{"Origin": {"http://a.example.com"}})
		if got := w.Header().Get("Access-Control-Expose-Headers"); w.Code != 405 ||
			got != "MCP-Protocol-Version, X-Request-UUID" {
			t.Errorf("status %d, Access-Control-Expose-Headers %q", w.Code, got)
		}
	})
}

func TestConfig_Validate(t *testing.T) {
	bad := []string{
		"null", "*", "https://a.example.com/", "example.com", "https://u@b.example.com",
		"https://c.example.com:", "https://d.example.com:0",
		"https://e.example.com:65536", "https://*.example.com",
	}
	err := guard.Config{Origins: append([]string{
		"https://ok.example.com",
		"http://ok.example.com:65535",
	}, bad...)}.Validate()
	if err == nil {
		t.Fatal("no error")
	}
	for _, origin := range bad {
		if !strings.Contains(err.Error(), strconv.Quote(origin)) {
			t.Errorf("the error does not contain %s: %v", origin, err)
		}
	}
	if strings.Contains(err.Error(), "ok.example.com") {
		t.Errorf("the error contains a valid origin: %v", err)
	}
}
