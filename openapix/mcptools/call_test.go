package mcptools_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/plinthgo/plinth/core/major/plinthtest"
	"github.com/plinthgo/plinth/core/major/xapi"
	"github.com/plinthgo/plinth/core/major/xhelper"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/openapix/mcptools"
)

type object = map[string]any

func TestCall_Results(t *testing.T) {
	_, url := serve(t, all())
	session := connect(t, url, "", nil)
	list := tools(t, session)
	for _, tc := range []struct {
		name, tool, arguments string
		want                  object
	}{
		{
			name: "member of the body", tool: "createUser",
			arguments: `{"name":"ada","limit":18446744073709551615,"note":"<&\"ü"}`,
			want: object{
				"id": "15", "name": "ada", "groups": nil,
				"parent": object{"id": "0", "name": `<&"ü`, "groups": nil},
			},
		},
		{
			name: "whole body",
			tool: "updateUser", arguments: `{"id":7,"body":{"id":8,"name":"eve"}}`,
			want: object{"id": "7008", "name": "eve", "groups": nil},
		},
		{
			name: "lists in the query", tool: "listUsers",
			arguments: `{"ids":[1,2],"tags":["a,b","c&d"],"full":true}`,
			want: object{"data": []any{object{
				"IDs": []any{1.0, 2.0}, "Tags": []any{"a,b", "c&d"}, "Full": true,
			}}},
		},
		{name: "no data in the Java profile", tool: "java", want: object{}},
		{name: "no data", tool: "listUsers", arguments: `{"full":null}`, want: object{}},
		{
			name: "form",
			tool: "signIn", arguments: `{"name":"ada","roles":["x","y"],"codes":[1,2]}`,
			want: object{"data": object{
				"name": "ada", "roles": []any{"x", "y"}, "codes": []any{1.0, 2.0},
			}},
		},
		{
			name: "whole form",
			tool: "changeName", arguments: `{"name":"a b?","body":{"name":"c"}}`,
			want: object{"data": "a b?→c"},
		},
		{
			name: "list as the body", tool: "count",
			arguments: `{"body":[{"name":"a"},{"name":"b"}]}`,
			want:      object{"data": 2.0},
		},
		{
			name: "result that does not follow rules of the input", tool: "rules",
			want: object{"name": "", "limit": 0.0, "pattern": "0001-01-01T00:00:00Z"},
		},
		{name: "JSON without an envelope", tool: "plain", want: object{"name": "plain"}},
		{
			name: "path with several segments", tool: "file", arguments: `{"path":"/a/../b?c"}`,
			want: object{"data": "/a/../b?c"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if tc.arguments == "" {
				tc.arguments = "{}"
			}
			var input any
			if err := json.Unmarshal([]byte(tc.arguments), &input); err != nil {
				t.Fatal(err)
			}
			if err := resolve(t, list[tc.tool].InputSchema).Validate(input); err != nil &&
				tc.name != "no data" { // null means that an argument is absent
				t.Errorf("the arguments do not match the schema: %v", err)
			}
			r, text := call(t, session, tc.tool, tc.arguments)
			if diff := cmp.Diff(any(tc.want), r.StructuredContent); r.IsError || diff != "" {
				t.Fatalf("structured content (-want +got):\n%s\n%s", diff, text)
			}
			schema := resolve(t, list[tc.tool].OutputSchema)
			if err := schema.Validate(r.StructuredContent); err != nil {
				t.Errorf("the content does not match the schema: %v", err)
			}
			var same any
			if err := json.Unmarshal([]byte(text), &same); err != nil ||
				!cmp.Equal(same, r.StructuredContent) {
				t.Errorf("text %s, want the structured content", text)
			}
		})
	}
	for _, tc := range []struct{ name, arguments, want string }{
		{name: "deleteUser", arguments: `{"id":7}`, want: "success"},
		{name: "touch", arguments: `{}`, want: "touched"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r, text := call(t, session, tc.name, tc.arguments)
			if r.IsError || r.StructuredContent != nil || text != tc.want {
				t.Errorf("%q with %v, want %q only", text, r.StructuredContent, tc.want)
			}
		})
	}
}

func TestCall_Errors(t *testing.T) {
	app, url := serve(t, all(), mcptools.WithMaxResponse(4000))
	session := connect(t, url, "", headers{"X-Request-UUID": "request-1"})
	for _, tc := range []struct{ name, tool, arguments, want string }{
		{
			name: "error code", tool: "getUser", arguments: `{"id":404}`,
			want: `{"context":"request-1","output":"USER_NOT_FOUND","code":40110,` +
				`"message":"The user does not exist"}`,
		},
		{
			name: "rule of a parameter", tool: "getUser", arguments: `{"id":-1}`,
			want: `"output":"PARAMETER_ERROR"`,
		},
		{
			name: "type of a parameter", tool: "getUser", arguments: `{"id":"x"}`,
			want: `"field":"id"`,
		},
		{
			name: "rule of a member", tool: "createUser", arguments: `{"name":"a"}`,
			want: `"field":"name"`,
		},
		{
			name: "type of a member", tool: "createUser", arguments: `{"name":1}`,
			want: `"output":"BODY_TYPE"`,
		},
		{
			name: "missing body", tool: "updateUser", arguments: `{"id":1}`,
			want: `"output":"BODY_EMPTY"`,
		},
		{name: "missing member", tool: "createUser", want: `"field":"name"`},
		{
			name: "unknown argument", tool: "getUser", arguments: `{"id":1,"user":2,"z":3}`,
			want: "argument user is unknown (known: X-Trace, id, query_id)\n" +
				"argument z is unknown (known: X-Trace, id, query_id)",
		},
		{
			name: "missing segment", tool: "getUser",
			want: "argument id is required",
		},
		{
			name: "slash in a segment", tool: "getUser", arguments: `{"id":"1/../../large"}`,
			want: "argument id must not contain a slash",
		},
		{
			name: "path of another route", tool: "getUser", arguments: `{"id":"export"}`,
			want: `"output":"PAGE_NOT_FOUND"`,
		},
		{
			name: "object in a parameter", tool: "getUser", arguments: `{"id":{}}`,
			want: "argument id must not be an object",
		},
		{
			name: "line break in a header", tool: "getUser",
			arguments: `{"id":1,"X-Trace":"a\nb"}`,
			want:      "argument X-Trace must not contain control characters",
		},
		{
			name: "object in a list of a form", tool: "changeName",
			arguments: `{"name":"a","body":{"name":[{}]}}`,
			want:      "argument body has the member name, which must not be an object",
		},
		{
			name: "form that is not an object", tool: "changeName",
			arguments: `{"name":"a","body":1}`,
			want:      "argument body must be an object",
		},
		{
			name: "large response", tool: "large",
			want: "the response exceeds 4000 bytes: request less data",
		},
		{
			name: "response that is not an envelope", tool: "legacy",
			want: "HTTP status 200 OK",
		},
		{
			name: "long text that is not an envelope", tool: "legacy",
			arguments: `{"kind":"text/plain; charset=utf-8"}`,
			want:      "HTTP status 200 OK: " + strings.Repeat("x", 1024),
		},
		{
			name: "error in the Java profile", tool: "java", arguments: `{"fail":true}`,
			want: `"message":"The user does not exist","error_message":"detail"`,
		},
		{name: "panic", tool: "crash", want: `"output":"SERVER_INTERNAL_ERROR"`},
		{name: "aborted response", tool: "abort", want: "the response is incomplete"},
		{
			name: "response of a middleware", tool: "private",
			want: `HTTP status 401 Unauthorized: {"reason":"unauthorized"}`,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r, text := call(t, session, tc.tool, cmpOr(tc.arguments, "{}"))
			if !r.IsError || r.StructuredContent != nil || !strings.Contains(text, tc.want) {
				t.Errorf("isError %t, structured content %v, text %s; want an error with %s",
					r.IsError, r.StructuredContent, text, tc.want)
			}
			if strings.Contains(text, "secret") {
				t.Errorf("text %s contains a secret", text)
			}
		})
	}
	t.Run("the request of the operation is in the access log", func(t *testing.T) {
		if text := app.LogText(); !strings.Contains(text, `"/v1/users/404"`) ||
			strings.Contains(text, "argument") {
			t.Errorf("log %s, want a line of the operation and no argument", text)
		}
	})
}

func cmpOr(s, fallback string) string {
	if s == "" {
		return fallback
	}
	return s
}

func TestCall_Request(t *testing.T) {
	_, url := serve(t, all(), mcptools.WithHeaders("X-Api-Key"))
	session := connect(t, url, "", headers{
		"Authorization": "Bearer secret", "Accept-Language": "zh", "X-Api-Key": "key",
		"Cookie": "session=1", "X-Request-UUID": "request-2", "X-Trace": "of the client",
	})
	r, text := call(t, session, "getUser", `{"id":7,"query_id":"a b","X-Trace":"t"}`)
	want := object{
		"method": http.MethodGet, "path": "/v1/users/7", "query": object{"id": []any{"a b"}},
		"trace": "t", "language": "zh", "token": "Bearer secret", "key": "key", "cookie": "",
		"address": "127.0.0.1", "proto": "", "request_id": "request-2",
	}
	if diff := cmp.Diff(any(want), r.StructuredContent); diff != "" {
		t.Errorf("request (-want +got):\n%s\n%s", diff, text)
	}
	if r, text := call(t, session, "private", "{}"); r.IsError {
		t.Errorf("the middleware rejected the forwarded header: %s", text)
	}
	if _, text := call(t, session, "getUser", `{"id":404}`); !strings.Contains(text, "用户") {
		t.Errorf("text %s, want the message in Chinese", text)
	}
}

func TestCall_Request_Proxy(t *testing.T) {
	_, url := serveWith(t, xoption.WithTrustedProxies("127.0.0.1"), mcptools.WithReads())
	session := connect(t, url, "", headers{
		"X-Forwarded-For": "192.0.2.7", "X-Forwarded-Proto": "https",
	})
	_, text := call(t, session, "getUser", `{"id":7}`)
	if !strings.Contains(text, `"192.0.2.7"`) || !strings.Contains(text, `"https"`) {
		t.Errorf("request %s, want the address and the scheme of the client", text)
	}
}

// slow returns routes with an operation that waits for the end of its context.
func slow(entered chan<- struct{}, returned chan<- error) func(context.Context, *gin.Engine) {
	return func(_ context.Context, e *gin.Engine) {
		wait := func(ctx context.Context, _ *struct{}) (string, error) {
			entered <- struct{}{}
			<-ctx.Done()
			returned <- ctx.Err()
			return "", ctx.Err()
		}
		xapi.Get(e, "/slow", wait, xapi.ID("slow"))
	}
}

func TestCall_Cancel(t *testing.T) {
	for _, version := range mcp.SupportedProtocolVersions() {
		t.Run(version, func(t *testing.T) {
			entered, returned := make(chan struct{}, 1), make(chan error, 1)
			_, url := serveWith(t, xoption.WithRoute(slow(entered, returned)), mcptools.WithReads())
			session := connect(t, url, version, nil)
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() {
				_, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "slow"})
				done <- err
			}()
			<-entered
			cancel()
			if err := <-returned; err != context.Canceled { //nolint:errorlint // of a context
				t.Errorf("error of the context = %v, want context.Canceled", err)
			}
			if err := <-done; err == nil {
				t.Error("the canceled call succeeded")
			}
		})
	}
}

func TestCall_Timeout(t *testing.T) {
	for _, tc := range []struct {
		name    string
		timeout map[string]time.Duration
		want    string
	}{
		{
			name:    "of the operation",
			timeout: map[string]time.Duration{"/slow": 50 * time.Millisecond},
			want:    `"output":"GATEWAY_TIMEOUT"`,
		},
		{
			name: "of all routes", want: `"output":"GATEWAY_TIMEOUT"`,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			entered, returned := make(chan struct{}, 1), make(chan error, 1)
			app := plinthtest.New(t, xoption.WithServe(func(c *xhelper.Config) {
				c.RouteRequestTimeout = tc.timeout
				if tc.timeout == nil {
					c.RequestTimeout = 50 * time.Millisecond
				}
			}), mcptools.Serve(mcptools.WithReads()), xoption.WithRoute(slow(entered, returned)))
			w := post(t, app.Engine(), "/mcp",
				`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow"}}`)
			var m struct {
				Result struct {
					IsError bool
					Content []struct{ Text string }
				}
			}
			if err := json.Unmarshal(w.Body.Bytes(), &m); err != nil || !m.Result.IsError ||
				!strings.Contains(m.Result.Content[0].Text, tc.want) {
				t.Errorf("status %d with %s (%v), want %s", w.Code, w.Body, err, tc.want)
			}
		})
	}
	t.Run("of the endpoint", func(t *testing.T) {
		entered, returned := make(chan struct{}, 1), make(chan error, 1)
		app := plinthtest.New(t, xoption.WithServe(func(c *xhelper.Config) {
			c.RouteRequestTimeout = map[string]time.Duration{"/mcp": 50 * time.Millisecond}
		}), mcptools.Serve(mcptools.WithReads()), xoption.WithRoute(slow(entered, returned)))
		w := post(t, app.Engine(), "/mcp",
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow"}}`)
		if !strings.Contains(w.Body.String(), "GATEWAY_TIMEOUT") {
			t.Errorf("status %d with %s, want GATEWAY_TIMEOUT", w.Code, w.Body)
		}
		if err := <-returned; err != context.DeadlineExceeded { //nolint:errorlint // of a context
			t.Errorf("error of the context = %v, want context.DeadlineExceeded", err)
		}
	})
}

func TestCall_Concurrent(t *testing.T) {
	_, url := serve(t, all())
	session := connect(t, url, "", nil)
	var calls sync.WaitGroup
	for i := range 50 {
		calls.Go(func() {
			r, err := session.CallTool(t.Context(), &mcp.CallToolParams{
				Name: "getUser", Arguments: object{"id": i + 1000},
			})
			if err != nil {
				t.Error(err)
				return
			}
			content, _ := r.StructuredContent.(object)
			if want := fmt.Sprintf("/v1/users/%d", i+1000); r.IsError || content["path"] != want {
				t.Errorf("result %v, want the path %s", r.StructuredContent, want)
			}
		})
	}
	calls.Wait()
}
