package stdio_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"github.com/plinthgo/plinth/docs/internal/guard"
	"github.com/plinthgo/plinth/docs/internal/stdio"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A session is connected to a server with one tool, which runs for a requested number
// of seconds.
type session struct {
	t     *testing.T
	in    *io.PipeWriter
	out   *bufio.Reader
	ended chan error
}

// withSession runs do in a session and fails if the session does not return afterwards.
func withSession(t *testing.T, version string, do func(*session)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		in, client := io.Pipe()
		responses, out := io.Pipe()
		s := &session{t: t, in: client, out: bufio.NewReader(responses), ended: make(chan error, 1)}
		go func() {
			err := stdio.Serve(t.Context(), in, out, endpoint())
			_ = out.Close()
			s.ended <- err
		}()
		s.send(`{"jsonrpc":"2.0","id":"first","method":"initialize","params":{"protocolVersion":"` +
			version +
			`","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`)
		s.receive("first ok")
		s.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		do(s)
		_ = client.Close()
		if rest, err := io.ReadAll(s.out); err != nil || len(rest) > 0 {
			t.Errorf("at the end: %q, %v", rest, err)
		}
		if err := <-s.ended; err != nil {
			t.Errorf("the session ended with %v", err)
		}
	})
}

func endpoint() http.Handler {
	s := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	s.AddTool(&mcp.Tool{Name: "slow", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			var arguments struct{ Seconds int }
			if err := json.Unmarshal(r.Params.Arguments, &arguments); err != nil {
				return nil, err
			}
			select {
			case <-time.After(time.Duration(arguments.Seconds) * time.Second):
			case <-ctx.Done():
			}
			return &mcp.CallToolResult{Content: []mcp.Content{}}, ctx.Err()
		})
	return guard.New(guard.Config{}, mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server {
		return s
	}, guard.StreamOptions()))
}

func (s *session) send(lines ...string) {
	s.t.Helper()
	if _, err := io.WriteString(s.in, strings.Join(lines, "\n")+"\n"); err != nil {
		s.t.Error(err)
	}
}

// receive reads a line and compares the ID and the code, or "ok", of each response in it.
func (s *session) receive(want string) {
	s.t.Helper()
	line, err := s.out.ReadString('\n')
	if err != nil {
		s.t.Fatalf("want %s: %v", want, err)
	}
	if diff := cmp.Diff(want, summary(s.t, line)); diff != "" {
		s.t.Errorf("response (-want +got):\n%s\n%s", diff, line)
	}
}

func summary(t *testing.T, line string) string {
	t.Helper()
	type response struct {
		ID    any
		Error *struct{ Code json.Number }
	}
	var responses []response
	if !strings.HasPrefix(line, "[") {
		line = "[" + line + "]"
	}
	if err := json.Unmarshal([]byte(line), &responses); err != nil {
		t.Fatalf("%v: %s", err, line)
	}
	var words []string
	for _, a := range responses {
		id, err := json.Marshal(a.ID)
		if err != nil {
			t.Fatal(err)
		}
		words = append(words, strings.Trim(string(id), `"`))
		if a.Error == nil {
			words = append(words, "ok")
		} else {
			words = append(words, a.Error.Code.String())
		}
	}
	return strings.Join(words, " ")
}

func slow(id string, seconds int) string {
	return `{"jsonrpc":"2.0","id":` + id +
		`,"method":"tools/call","params":{"name":"slow","arguments":{"seconds":` +
		strconv.Itoa(seconds) + `}}}`
}

func ping(id string) string { return `{"jsonrpc":"2.0","id":` + id + `,"method":"ping"}` }

func TestServe_InvalidMessages(t *testing.T) {
	long := `"` + strings.Repeat("x", 1<<20) + `"`
	for _, tc := range []struct{ name, line, want string }{
		{"no JSON", "garbage", "null -32700"},
		{"half of a message", `{"jsonrpc":"2.0",`, "null -32700"},
		{"two messages", ping("1") + ping("2"), "null -32700"},
		{"not UTF-8", "\"\xff\"", "null -32700"},
		{"a number", "5", "null -32600"},
		{"no version", `{"id":1,"method":"ping"}`, "1 -32600"},
		{"another version", `{"jsonrpc":"1.0","id":"a","method":"ping"}`, "a -32600"},
		{"an id and no method", `{"jsonrpc":"2.0","id":4}`, "4 -32600"},
		{"neither call nor response", `{"jsonrpc":"2.0"}`, "null -32600"},
		{"a method that is a number", `{"jsonrpc":"2.0","id":1,"method":5}`, "1 -32600"},
		{"a method that is null", `{"jsonrpc":"2.0","id":1,"method":null}`, "1 -32600"},
		{"an empty method", `{"jsonrpc":"2.0","id":1,"method":""}`, "1 -32601"},
		{
			"an response with a result and an error",
			`{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"x"}}`, "null -32600",
		},
		{"an response with an empty error", `{"jsonrpc":"2.0","id":1,"error":{}}`, "null -32600"},
		{"an id that is a fraction", ping("1.5"), "null -32600"},
		{"an id that is an object", ping("{}"), "null -32600"},
		{"a line that is too long", long, "null -32600"},
		{"a batch", "[" + ping("1") + "]", "null -32600"},
		{"an empty line", "\r\n\n  ", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			withSession(t, "2025-11-25", func(s *session) {
				go s.send(tc.line, ping("7"))
				if tc.want != "" {
					s.receive(tc.want)
				}
				s.receive("7 ok")
			})
		})
	}
}

func TestServe_Input(t *testing.T) {
	t.Run("responses follow the end of input", func(t *testing.T) {
		withSession(t, "2025-11-25", func(s *session) {
			go func() {
				s.send(slow("1", 1), slow(`"\u0061"`, 2))
				_ = s.in.Close()
			}()
			s.receive("1 ok")
			s.receive("a ok")
		})
	})

	t.Run("the last line needs no line break", func(t *testing.T) {
		withSession(t, "2025-11-25", func(s *session) {
			go func() {
				_, _ = io.WriteString(s.in, ping("1"))
				_ = s.in.Close()
			}()
			s.receive("1 ok")
		})
	})

	t.Run("a message may have the maximum length", func(t *testing.T) {
		const length = 1 << 20
		message := strings.Replace(ping("1"), `"ping"`, `"ping","params":{"_meta":{"x":"`, 1)
		message = strings.TrimSuffix(message, "}")
		message += strings.Repeat("x", length-len(message)-len(`"}}}`)) + `"}}}`
		withSession(t, "2025-11-25", func(s *session) {
			go s.send(message)
			s.receive("1 ok")
			go s.send(strings.Replace(message, "x", "xx", 1))
			s.receive("null -32600")
		})
	})
}

func TestServe_Batch(t *testing.T) {
	withSession(t, "2025-03-26", func(s *session) {
		go s.send("["+ping("1")+","+slow("2", 1)+"]", "[]", "[5]", "["+slow("2", 1)+"]")
		s.receive("1 ok 2 ok")
		s.receive("null -32600")
		s.receive("null -32600")
		s.receive("2 ok")
	})
}
