package tool_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/plinthgo/plinth/docs/internal/guard"
	"github.com/plinthgo/plinth/docs/internal/tool"
)

// A recorder records the body of the last response.
type recorder struct {
	http.RoundTripper

	last []byte
}

// RoundTrip implements http.RoundTripper.
func (r *recorder) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := r.RoundTripper.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	r.last, err = io.ReadAll(response.Body)
	_ = response.Body.Close()
	response.Body = io.NopCloser(bytes.NewReader(r.last))
	return response, err
}

func TestServer_HTTP(t *testing.T) {
	server := tool.New(config(t))
	endpoint := httptest.NewServer(guard.New(guard.Config{}, mcp.NewStreamableHTTPHandler(
		func(*http.Request) *mcp.Server { return server },
		&mcp.StreamableHTTPOptions{
			Stateless: true, JSONResponse: true,
			PropagateRequestCancellation: true,
		},
	)))
	t.Cleanup(endpoint.Close)
	wire := &recorder{RoundTripper: endpoint.Client().Transport}
	arguments := map[string]string{
		"sector": `{}`, "list": `{"sector":"guide"}`,
		"detail": `{"sector":"guide","path":"/quick-start.zh"}`, "search": `{"query":"缓存"}`,
	}
	for _, version := range mcp.SupportedProtocolVersions() {
		t.Run(version, func(t *testing.T) {
			client, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"},
				nil).Connect(t.Context(),
				&mcp.StreamableClientTransport{
					Endpoint:   endpoint.URL,
					HTTPClient: &http.Client{Transport: wire}, MaxRetries: -1,
				},
				&mcp.ClientSessionOptions{ProtocolVersion: version})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = client.Close() }()
			if got := client.InitializeResult().ProtocolVersion; got != version {
				t.Errorf("version is %s", got)
			}
			var names []string
			for s, err := range client.Tools(t.Context(), nil) {
				if err != nil {
					t.Fatal(err)
				}
				names = append(names, s.Name)
				if result, text := call(t, client, s.Name, arguments[s.Name]); result.IsError ||
					result.StructuredContent == nil {
					t.Errorf("%s: %s", s.Name, text)
				}
			}
			slices.Sort(names)
			if diff := cmp.Diff([]string{"detail", "list", "search", "sector"}, names); diff != "" {
				t.Errorf("tools (-want +got):\n%s", diff)
			}
			call(t, client, "sector", `{}`)
			if got, want := bytes.Count(wire.last, []byte(`"resultType":"complete"`)),
				map[bool]int{true: 1}[version >= "2026-07-28"]; got != want {
				t.Errorf("got the type of the result %d times, want %d: %s", got, want, wire.last)
			}
			if _, err := client.ReadResource(t.Context(),
				&mcp.ReadResourceParams{URI: "docs:///guide/nothing"}); err == nil {
				t.Error("got a resource that does not exist")
			}
			if _, err := client.ListTools(t.Context(), nil); err != nil {
				t.Errorf("call after an error: %v", err)
			}
		})
	}
}
