package guard_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"github.com/plinthgo/plinth/docs/internal/guard"
)

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	goleak.VerifyTestMain(m)
}

// endpoint returns the SDK's handler with one tool.
func endpoint() http.Handler {
	s := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"},
		&mcp.ServerOptions{Capabilities: &mcp.ServerCapabilities{}})
	s.AddTool(&mcp.Tool{Name: "hello", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "world"}}}, nil
		})
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s },
		&mcp.StreamableHTTPOptions{
			Stateless: true, JSONResponse: true, PropagateRequestCancellation: true,
			DisableLocalhostProtection: true,
		})
}

// serve returns the URL of a server on a loopback address.
func serve(t *testing.T, c guard.Config, next http.Handler) string {
	t.Helper()
	s := httptest.NewServer(guard.New(c, next))
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		s.Close()
	})
	return s.URL
}

// A result is the part of a response that tests compare.
type result struct {
	Status int
	Code   int    // of the JSON-RPC error
	ID     string // raw JSON
}

// A reply is a response with its whole body.
type reply struct {
	status int
	header http.Header
	body   string
}

// A call is a request that tests modify.
type call struct {
	method  string
	body    string
	header  map[string]string
	without string // header to omit
}

func (c call) do(t *testing.T, url string) reply {
	t.Helper()
	if c.method == "" {
		c.method = http.MethodPost
	}
	r, err := http.NewRequestWithContext(t.Context(), c.method, url, strings.NewReader(c.body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for name, value := range c.header {
		r.Header.Set(name, value)
	}
	r.Host = r.Header.Get("Host")
	if c.without != "" {
		r.Header.Del(c.without)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	return receive(t, res)
}

// receive reads a whole response.
func receive(t *testing.T, res *http.Response) reply {
	t.Helper()
	body, err := io.ReadAll(res.Body)
	if err := errors.Join(err, res.Body.Close()); err != nil {
		t.Fatal(err)
	}
	return reply{status: res.StatusCode, header: res.Header, body: string(body)}
}

// read checks the format of a reply and parses it.
func (r reply) read(t *testing.T) result {
	t.Helper()
	got, body := result{Status: r.status}, r.body
	if body == "" {
		return got
	}
	if kind := r.header.Get("Content-Type"); kind != "application/json" {
		t.Fatalf("Content-Type is %q, want application/json; body %s", kind, body)
	}
	var m struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   *struct {
			Code    int
			Message string
		}
	}
	if err := json.Unmarshal([]byte(body), &m); err != nil || m.Version != "2.0" {
		t.Fatalf("body is %s (%v), want a JSON-RPC message", body, err)
	}
	if got.ID = string(m.ID); m.Error != nil {
		got.Code = m.Error.Code
		if m.Error.Message == "" {
			t.Errorf("the error has no message: %s", body)
		}
	}
	return got
}

const listTools = `{"jsonrpc":"2.0","id":7,"method":"tools/list"}`

func TestGuard_Errors(t *testing.T) {
	url := serve(t, guard.Config{MaxBody: 200}, endpoint())
	for _, tc := range []struct {
		name string
		call call
		want result
	}{
		{name: "well-formed", call: call{body: listTools}, want: result{Status: 200, ID: "7"}},
		{name: "GET", call: call{method: "GET"}, want: result{Status: 405, Code: -32600}},
		{
			name: "GET of a stream",
			call: call{method: "GET", header: map[string]string{"Accept": "text/event-stream"}},
			want: result{Status: 405, Code: -32600},
		},
		{
			name: "DELETE of a session",
			call: call{method: "DELETE", header: map[string]string{"Mcp-Session-Id": "x"}},
			want: result{Status: 405, Code: -32600},
		},
		{
			name: "PUT", call: call{method: "PUT", body: listTools},
			want: result{Status: 405, Code: -32600},
		},
		{
			name: "no Accept", call: call{body: listTools, without: "Accept"},
			want: result{Status: 200, ID: "7"},
		},
		{name: "any Accept", call: call{
			body:   listTools,
			header: map[string]string{"Accept": "*/*"},
		}, want: result{Status: 200, ID: "7"}},
		{
			name: "Accept application",
			call: call{body: listTools, header: map[string]string{"Accept": "application/*;q=0.5"}},
			want: result{Status: 200, ID: "7"},
		},
		{
			name: "Accept JSON only",
			call: call{body: listTools, header: map[string]string{"Accept": "application/json"}},
			want: result{Status: 200, ID: "7"},
		},
		{
			name: "Accept JSON last",
			call: call{
				body:   listTools,
				header: map[string]string{"Accept": "text/html, application/json;q=0.1"},
			},
			want: result{Status: 200, ID: "7"},
		},
		{
			name: "Accept stream only",
			call: call{body: listTools, header: map[string]string{"Accept": "text/event-stream"}},
			want: result{Status: 406, Code: -32600},
		},
		{
			name: "Accept anything but JSON",
			call: call{
				body:   listTools,
				header: map[string]string{"Accept": "*/*, application/json;q=0"},
			},
			want: result{Status: 406, Code: -32600},
		},
		{
			name: "no Content-Type", call: call{body: listTools, without: "Content-Type"},
			want: result{Status: 415, Code: -32600},
		},
		{
			name: "plain text", call: call{
				body:   listTools,
				header: map[string]string{"Content-Type": "text/plain"},
			},
			want: result{Status: 415, Code: -32600},
		},
		{
			name: "charset", call: call{
				body:   listTools,
				header: map[string]string{"Content-Type": "application/json; charset=utf-8"},
			},
			want: result{Status: 200, ID: "7"},
		},
		{
			name: "compressed", call: call{
				body:   listTools,
				header: map[string]string{"Content-Encoding": "gzip"},
			},
			want: result{Status: 415, Code: -32600},
		},
		{
			name: "large", call: call{body: strings.Repeat(" ", 201)},
			want: result{Status: 413, Code: -32600},
		},
		{
			name: "largest", call: call{body: listTools + strings.Repeat(" ", 200-len(listTools))},
			want: result{Status: 200, ID: "7"},
		},
		{name: "empty", want: result{Status: 400, Code: -32700}},
		{
			name: "truncated", call: call{body: `{"jsonrpc":"2.0","id":1`},
			want: result{Status: 400, Code: -32700},
		},
		{
			name: "two values", call: call{body: listTools + listTools},
			want: result{Status: 400, Code: -32700},
		},
		{name: "not UTF-8", call: call{body: "{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"method\":\"ping\"}"}, want: result{Status: 400, Code: -32700}},
		{
			name: "byte order mark",
			call: call{body: "\ufeff" + listTools}, want: result{Status: 400, Code: -32700},
		},
		{
			name: "deep", call: call{body: strings.Repeat("[", 100) + strings.Repeat("]", 100)},
			want: result{Status: 400, Code: -32600},
		},
		{name: "null", call: call{body: "null"}, want: result{Status: 400, Code: -32600}},
		{name: "number", call: call{body: "5"}, want: result{Status: 400, Code: -32600}},
		{name: "empty batch", call: call{body: "[]"}, want: result{Status: 400, Code: -32600}},
		{
			name: "no version", call: call{body: `{"id":"a","method":"ping"}`},
			want: result{Status: 400, Code: -32600, ID: `"a"`},
		},
		{
			name: "id of an object", call: call{body: `{"jsonrpc":"2.0","id":{},"method":"ping"}`},
			want: result{Status: 400, Code: -32600},
		},
		{
			name: "id of null", call: call{body: `{"jsonrpc":"2.0","id":null,"method":"ping"}`},
			want: result{Status: 400, Code: -32600},
		},
		{
			name: "method of a number", call: call{body: `{"jsonrpc":"2.0","id":3,"method":4}`},
			want: result{Status: 400, Code: -32600, ID: "3"},
		},
		{
			name: "call without params",
			call: call{body: `{"jsonrpc":"2.0","id":3,"method":"tools/call"}`},
			want: result{Status: 400, Code: -32600, ID: "3"},
		},
		{
			name: "an id and no method", call: call{body: `{"jsonrpc":"2.0","id":3}`},
			want: result{Status: 400, Code: -32600, ID: "3"},
		},
		{
			name: "method of null", call: call{body: `{"jsonrpc":"2.0","id":3,"method":null}`},
			want: result{Status: 400, Code: -32600, ID: "3"},
		},
		{
			name: "notification of null", call: call{body: `{"jsonrpc":"2.0","method":null}`},
			want: result{Status: 400, Code: -32600},
		},
		// The empty method is a String, so this is a request (JSON-RPC 2.0, section 4)
		// for an unknown method.
		{
			name: "empty method", call: call{body: `{"jsonrpc":"2.0","id":3,"method":""}`},
			want: result{Status: 200, Code: -32601, ID: "3"},
		},
		{
			name: "empty method, id of a fraction",
			call: call{body: `{"jsonrpc":"2.0","id":1.5,"method":""}`},
			want: result{Status: 400, Code: -32600},
		},
		{
			name: "empty notification",
			call: call{body: `{"jsonrpc":"2.0","method":""}`}, want: result{Status: 202},
		},
		{
			name: "a response", call: call{body: `{"jsonrpc":"2.0","id":3,"result":{}}`},
			want: result{Status: 202},
		},
		{name: "an error", call: call{body: `{"jsonrpc":"2.0","id":3,"error":{"code":0,"message":""}}`}, want: result{Status: 202}},
		{
			name: "a result and an error", want: result{Status: 400, Code: -32600},
			call: call{body: `{"jsonrpc":"2.0","id":3,"result":{},"error":{"code":-1,"message":"x"}}`},
		},
		{
			name: "an empty error", call: call{body: `{"jsonrpc":"2.0","id":3,"error":{}}`},
			want: result{Status: 400, Code: -32600},
		},
		{
			name: "an error of null", call: call{body: `{"jsonrpc":"2.0","id":3,"error":null}`},
			want: result{Status: 400, Code: -32600},
		},
		{
			name: "an error without a message",
			call: call{body: `{"jsonrpc":"2.0","id":3,"error":{"code":1}}`},
			want: result{Status: 400, Code: -32600},
		},
		{
			name: "a code of null",
			call: call{body: `{"jsonrpc":"2.0","id":3,"error":{"code":null,"message":"x"}}`},
			want: result{Status: 400, Code: -32600},
		},
		{name: "session of another server", call: call{
			body:   listTools,
			header: map[string]string{"Mcp-Session-Id": "x"},
		}, want: result{Status: 200, ID: "7"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			res := tc.call.do(t, url)
			if diff := cmp.Diff(tc.want, res.read(t)); diff != "" {
				t.Errorf("result (-want +got):\n%s\n%s", diff, res.body)
			}
			if tc.want.Status == 405 && res.header.Get("Allow") != "POST, OPTIONS" {
				t.Errorf("Allow is %q", res.header.Get("Allow"))
			}
		})
	}
}
