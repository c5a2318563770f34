//go:build !conformance

package docs

import (
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/plinthgo/plinth/docs/internal/tool"
)

// newServer returns the server of the protocol.
func newServer(c tool.Config) *mcp.Server { return tool.New(c) }

// newStream serves it over HTTP.
func newStream(server func(*http.Request) *mcp.Server, o *mcp.StreamableHTTPOptions) http.Handler {
	return mcp.NewStreamableHTTPHandler(server, o)
}
