package mcptools_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/openapix/mcptools"
)

const listTools = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`

// post sends a message to an engine, without a connection.
func post(tb testing.TB, engine http.Handler, path, body string) *httptest.ResponseRecorder {
	tb.Helper()
	r := httptest.NewRequestWithContext(tb.Context(), http.MethodPost, path,
		strings.NewReader(body))
	setHeaders(r)
	w := httptest.NewRecorder()
	engine.ServeHTTP(w, r)
	return w
}

func setHeaders(r *http.Request) {
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
}

func TestServe_Guard(t *testing.T) {
	_, url := serve(t, all(), mcptools.WithOrigins("https://app.example.com"))
	server := strings.TrimSuffix(url, "/mcp")
	for _, tc := range []struct {
		name       string
		header     headers
		body       string
		want       int
		wantOutput string
	}{
		{name: "no origin", want: http.StatusOK},
		{name: "own origin", header: headers{"Origin": server}, want: http.StatusOK},
		{
			name: "configured origin", header: headers{
				"Origin": "https://app.example.com", "Sec-Fetch-Site": "cross-site",
			}, want: http.StatusOK,
		},
		{
			name: "other origin", header: headers{"Origin": "https://evil.example.com"},
			want: http.StatusForbidden, wantOutput: "FORBIDDEN",
		},
		{
			name: "opaque origin", header: headers{"Origin": "null"},
			want: http.StatusForbidden, wantOutput: "FORBIDDEN",
		},
		{
			name: "cross-site without an origin", header: headers{"Sec-Fetch-Site": "cross-site"},
			want: http.StatusForbidden, wantOutput: "FORBIDDEN",
		},
		{
			name: "DNS rebinding", header: headers{
				"Host": "evil.example.com", "Origin": "http://evil.example.com",
			}, want: http.StatusForbidden,
		},
		{
			name: "host of a configured origin", header: headers{"Host": "app.example.com"},
			want: http.StatusOK,
		},
		{
			name: "batch", body: " [" + listTools + "]",
			want: http.StatusBadRequest, wantOutput: "batches are not supported",
		},
		{
			name: "large body", body: listTools + strings.Repeat(" ", 4<<20),
			want: http.StatusRequestEntityTooLarge, wantOutput: "PAYLOAD_TOO_LARGE",
		},
		{name: "malformed body", body: "{", want: http.StatusBadRequest},
		{
			name: "plain text", header: headers{"Content-Type": "text/plain"},
			want: http.StatusUnsupportedMediaType,
		},
		{
			name: "unknown version", header: headers{"MCP-Protocol-Version": "2020-01-01"},
			want: http.StatusBadRequest,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url,
				strings.NewReader(cmpOr(tc.body, listTools)))
			if err != nil {
				t.Fatal(err)
			}
			setHeaders(r)
			for name, value := range tc.header {
				r.Header.Set(name, value)
			}
			r.Host = r.Header.Get("Host")
			res, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			body, _ := io.ReadAll(res.Body)
			_ = res.Body.Close()
			if res.StatusCode != tc.want || !strings.Contains(string(body), tc.wantOutput) {
				t.Errorf("status %d with %.300s, want %d with %q", res.StatusCode, body, tc.want,
					tc.wantOutput)
			}
		})
	}
	http.DefaultClient.CloseIdleConnections()
}

func TestServe_Notification(t *testing.T) {
	app, _ := serve(t, all())
	w := post(t, app.Engine(), "/mcp", `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	if w.Code != http.StatusAccepted || w.Body.Len() > 0 {
		t.Errorf("status %d with %q, want 202 without a body", w.Code, w.Body)
	}
}

func TestServe_Middleware(t *testing.T) {
	reject := func(c *gin.Context) { c.AbortWithStatus(http.StatusUnauthorized) }
	app, _ := serve(t, all(), mcptools.WithMiddleware(reject))
	if w := post(t, app.Engine(), "/mcp", listTools); w.Code != http.StatusUnauthorized {
		t.Errorf("status %d, want 401", w.Code)
	}
	if w := post(t, app.Engine(), "/touch", ""); w.Code != http.StatusOK {
		t.Errorf("status of another route = %d, want 200", w.Code)
	}
}
