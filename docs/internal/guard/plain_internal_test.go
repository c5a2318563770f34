package guard

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// sdkResponse returns the SDK's response to a call.
func sdkResponse(t *testing.T, method, params string) []byte {
	t.Helper()
	s := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	s.AddTool(&mcp.Tool{Name: "echo", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(
				r.Params.Arguments)}}}, nil
		})
	h := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s },
		&mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true})
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://127.0.0.1/",
		strings.NewReader(`{"jsonrpc":"2.0","id":"x","method":"`+method+`","params":`+params+`}`))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	text, err := io.ReadAll(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestPlain(t *testing.T) {
	t.Run("rewrites errors of params", func(t *testing.T) {
		for _, tc := range []struct{ method, params, want string }{
			{
				"tools/call", `{"name":5,"arguments":{}}`,
				`invalid params of tools/call: \"name\" must be a string`,
			},
			{"tools/call", `[1]`, `invalid params of tools/call: params must be an object`},
			{
				"tools/call", `{"name":"` + strings.Repeat("x", 100_000) + `","_meta":7}`,
				`invalid params of tools/call: \"_meta\" must be an object`,
			},
			{
				"tools/list", `{"cursor":{"a":"\n"}}`,
				`invalid params of tools/list: \"cursor\" must be a string`,
			},
			{
				"resources/read", `{"uri":true}`,
				`invalid params of resources/read: \"uri\" must be a string`,
			},
			{
				"initialize", `{"protocolVersion":1}`,
				`invalid params of initialize: \"protocolVersion\" must be a string`,
			},
		} {
			got := string(plain(sdkResponse(t, tc.method, tc.params)))
			if want := `{"jsonrpc":"2.0","id":"x","error":{"code":-32602,"message":"` + tc.want +
				`"}}`; strings.TrimSpace(got) != want {
				t.Errorf("%s %.100s:\n…%s\nwant\n%s",
					tc.method, tc.params, got[max(0, len(got)-300):], want)
			}
		}
	})

	t.Run("accepts long IDs and batches", func(t *testing.T) {
		one := bytes.TrimSpace(sdkResponse(t, "tools/call", `{"name":5}`))
		long := bytes.Replace(one, []byte(`"x"`), []byte(`"`+strings.Repeat("x", 5000)+`"`), 1)
		ok := `{"jsonrpc":"2.0","id":1,"result":{}}`
		for _, text := range []string{string(long) + "\n", "[" + ok + "," + string(one) + "]\n"} {
			got := string(plain([]byte(text)))
			if strings.Contains(got, "mcp.") ||
				!strings.Contains(got, `\"name\" must be a string`) ||
				!strings.HasSuffix(got, "\n") {
				t.Errorf("…%s", got[max(0, len(got)-300):])
			}
			if strings.HasPrefix(text, "[") && !strings.HasPrefix(got, "["+ok+",") {
				t.Errorf("the other response has changed: %s", got)
			}
		}
	})

	t.Run("keeps other responses", func(t *testing.T) {
		for _, text := range [][]byte{
			sdkResponse(t, "tools/call",
				`{"name":"echo","arguments":{"a":"\"error\":{\"code\":-32602,\"message\":\"handling '"}}`),
			sdkResponse(t, "tools/call", `{"name":"none"}`),
			sdkResponse(t, "nothing", `{}`),
			[]byte(`{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"handling 'x': something else"}}`),
			[]byte(`{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"handling '`),
			{},
		} {
			if got := plain(text); string(got) != string(text) {
				t.Errorf("%s\nhas become\n%s", text, got)
			}
		}
	})
}
