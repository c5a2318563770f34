//go:build conformance

package docs

import (
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/plinthgo/plinth/docs/internal/fixture"
	"github.com/plinthgo/plinth/docs/internal/tool"
)

// newServer adds what the protocol's conformance suite looks for to the server. This build is for its test alone.
func newServer(c tool.Config) *mcp.Server {
	c.Options = fixture.Options
	s := tool.New(c)
	fixture.Add(s)
	return s
}

// newStream serves it over HTTP, and as events what the suite's tools tell before they return.
func newStream(server func(*http.Request) *mcp.Server, o *mcp.StreamableHTTPOptions) http.Handler {
	return fixture.Handler(server, o)
}
