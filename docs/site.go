package docs

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"runtime/debug"
	"slices"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/plinthgo/plinth/docs/internal/guard"
	"github.com/plinthgo/plinth/docs/internal/stdio"
)

// A Site serves the documentation. It is an http.Handler for a whole host and safe for
// concurrent use.
type Site struct {
	config   *config
	protocol http.Handler
	now      atomic.Pointer[snapshot]
	changes  *changes
}

// New returns a site that serves the content. It reports all problems of options and
// content at once.
func New(opts ...Option) (*Site, error) {
	c, err := newConfig(opts)
	if err != nil {
		return nil, err
	}
	s := &Site{config: c, changes: newChanges()}
	if err := s.read(); err != nil {
		return nil, err
	}
	stream := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server {
		return s.now.Load().server
	}, guard.StreamOptions())
	origins := c.origins
	if c.baseURL != "" {
		origins = append(slices.Clone(origins), c.baseURL)
	}
	s.protocol = guard.New(guard.Config{Origins: origins}, stream)
	return s, nil
}

// read loads the content and replaces the current snapshot.
func (s *Site) read() error {
	next, err := newSnapshot(s.config)
	if err != nil {
		return err
	}
	s.now.Store(next)
	return nil
}

// ServeHTTP implements http.Handler.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/api/mcp":
		s.protocol.ServeHTTP(w, r)
	case "/api/reload":
		s.serveChanges(w, r)
	default:
		s.now.Load().ServeHTTP(w, r)
	}
}

// ServeStdio serves the Model Context Protocol over standard input and output. It returns
// nil after the client closed its end and all responses were sent, or when ctx is done.
// Otherwise it returns the error that closed the session. No other code may use standard
// input and output in the meantime.
func (s *Site) ServeStdio(ctx context.Context) error {
	ended := make(chan error, 1)
	go func() { ended <- stdio.Serve(ctx, os.Stdin, os.Stdout, s.protocol) }()
	select {
	case err := <-ended:
		if err != nil {
			return fmt.Errorf("docs: serve standard input: %w", err)
		}
	case <-ctx.Done(): // reads of standard input may block forever
	}
	return nil
}

// modulePath is the path of this module.
const modulePath = "github.com/plinthgo/plinth/docs"

// Version returns the version of this module in the program: "(devel)" for a build from a
// working tree, "(unknown)" without build information.
func Version() string {
	const unknown = "(unknown)"
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return unknown
	}
	for _, m := range append(info.Deps, &info.Main) {
		if m.Path == modulePath && m.Version != "" {
			return m.Version
		}
	}
	return unknown
}
