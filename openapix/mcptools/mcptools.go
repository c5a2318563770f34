// Package mcptools offers operations of a service as tools of the Model Context Protocol
// (MCP).
//
//	xreg.Register(ctx, nodes,
//		xoption.WithRoute(route.Register),
//		mcptools.Serve(mcptools.WithTags("orders"), mcptools.WithOperations("getUser")),
//	)
//
// A tool has the operation ID as its name, and the summary, the description and the
// schemas of the OpenAPI document. Its arguments are the parameters and the members of
// the body. If the name of a member is also that of a parameter, or if the body has other
// rules than those of its members, the whole body is the argument "body". The structured
// content of a result is the data of the envelope. It is {"data": ...} if the data is not
// always an object. An error envelope becomes a result with isError, whose text is the
// envelope without the duration. Response headers, such as Location, are not part of a
// result.
//
// A call is a request to the engine in the same process. All middleware applies, such as
// authentication and rate limits, and the access log contains the call in addition to the
// request of the client. The call has the client address, the request ID, and the headers
// Authorization and Accept-Language of that request.
//
// Streams, downloads, uploads and raw bodies are not available as tools.
//
// The endpoint has no sessions. It rejects batches, so that a request has one call.
package mcptools

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"sync"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/major/xhelper"
	"github.com/plinthgo/plinth/core/major/xhook"
	"github.com/plinthgo/plinth/core/major/xoption"
)

// Serve serves the tools at POST /mcp, with the streamable HTTP transport. Without
// options it offers no operation. The tools are created once, when the application starts
// and all routes are registered. If an option refers to an unknown operation or tag, or
// the document has errors, the start fails.
//
// The route of the endpoint has no request timeout, unless the application sets one. The
// timeouts of the operations apply.
func Serve(opts ...Option) xoption.Option {
	c := newConfig(opts)
	return xoption.WithOptions(
		xoption.WithServe(c.removeTimeout),
		xoption.WithEngine(func(e *gin.Engine) { e.Use(checkRoute) }),
		xoption.WithRoute(func(ctx context.Context, e *gin.Engine) {
			s := newServer(c, e)
			e.POST(c.path, append(c.middleware, s.serve)...)
			xhook.OnStart(ctx, "mcptools", func(context.Context) error { return s.load() })
		}))
}

func (c *config) removeTimeout(serve *xhelper.Config) {
	timeouts := map[string]time.Duration{c.path: 0}
	maps.Copy(timeouts, serve.RouteRequestTimeout)
	serve.RouteRequestTimeout = timeouts
}

// server is the endpoint.
type server struct {
	config *config
	engine *gin.Engine
	load   func() error
	// direct checks the host of a request at a loopback address against DNS rebinding.
	// proxied serves requests for the host of a configured origin.
	direct, proxied http.Handler
	origins         *http.CrossOriginProtection
}

func newServer(c *config, e *gin.Engine) *server {
	s := &server{config: c, engine: e, origins: http.NewCrossOriginProtection()}
	s.load = sync.OnceValue(s.build)
	return s
}

// build creates the tools and the handlers of the protocol.
func (s *server) build() error {
	for _, origin := range s.config.origins {
		if err := s.origins.AddTrustedOrigin(origin); err != nil {
			return fmt.Errorf("mcptools: WithOrigins: %w", err)
		}
	}
	d, err := s.config.newDocument(s.engine)
	if err != nil {
		return err
	}
	tools, err := s.config.tools(s.engine, d)
	if err != nil {
		return err
	}
	protocol := mcp.NewServer(
		&mcp.Implementation{Name: d.Info.Title, Version: d.Info.Version},
		&mcp.ServerOptions{
			Instructions: d.Info.Description,
			Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
		})
	for _, t := range tools {
		protocol.AddTool(t.tool, s.handler(t))
	}
	get := func(*http.Request) *mcp.Server { return protocol }
	options := mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true}
	s.direct = mcp.NewStreamableHTTPHandler(get, &options)
	options.DisableLocalhostProtection = true
	s.proxied = mcp.NewStreamableHTTPHandler(get, &options)
	return nil
}

// maxBody is the maximum size of a message. The limit of the application applies, too.
const maxBody = 4 << 20

// serve serves one message.
func (s *server) serve(c *gin.Context) {
	if err := s.load(); err != nil { // only without a start hook
		_ = c.Error(xerror.Wrap(xerror.DeveloperError, "", err))
		return
	}
	if err := s.origins.Check(c.Request); err != nil {
		_ = c.Error(xerror.Wrap(xerror.Forbidden, "the origin is not allowed", err))
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(c.Writer, c.Request.Body, maxBody))
	if err != nil {
		_ = c.Error(err)
		return
	}
	if bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte("[")) {
		_ = c.Error(xerror.New(xerror.BodyError, "batches are not supported"))
		return
	}
	r := c.Request.WithContext(context.WithValue(c.Request.Context(), callerKey{}, c.Request))
	r.Body = io.NopCloser(bytes.NewReader(body))
	next := s.direct
	if s.config.hosts[r.Host] {
		next = s.proxied
	}
	next.ServeHTTP(c.Writer, r)
	if err := r.Context().Err(); err != nil && !c.Writer.Written() {
		_ = c.Error(err) // the SDK does not respond
	}
}

// callerKey is the key of the request of the client in the context of the SDK.
type callerKey struct{}

// handler returns the function of a tool.
func (s *server) handler(t *tool) mcp.ToolHandler {
	return func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		caller, ok := ctx.Value(callerKey{}).(*http.Request)
		if !ok {
			return nil, fmt.Errorf("mcptools: %s: the request of the client is unknown", t.op.ID)
		}
		request, err := t.request(r.Params.Arguments)
		if err != nil {
			return failure(err.Error()), nil
		}
		w := &recorder{header: http.Header{}, limit: s.config.maxResponse}
		s.call(w, s.forward(request, caller, t.op.Path))
		return t.result(w), nil
	}
}

// call sends a request to the engine. The SDK runs it on its own goroutine, on which a
// panic would stop the program. The engine recovers from panics, except for
// http.ErrAbortHandler.
func (s *server) call(w *recorder, r *http.Request) {
	defer func() { w.aborted = recover() != nil }()
	s.engine.ServeHTTP(w, r)
}
