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

// A Site shows the documentation. It is an http.Handler for its whole address space, and
// safe for concurrent use.
type Site struct {
	config   *config
	protocol http.Handler
	now      atomic.Pointer[snapshot]
	changes  *changes
}

// New reads the content and returns a site that shows it. It reports everything that is
// wrong with the options and the content at once.
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

// read puts what the content holds now in the place of what is shown.
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

// ServeStdio speaks the Model Context Protocol over standard input and output, until the
// client closes its end and has every answer, or ctx ends, which is no error. It returns
// what ended the session otherwise, such as a client that went away. Nothing else may use
// standard input and output meanwhile.
func (s *Site) ServeStdio(ctx context.Context) error {
	ended := make(chan error, 1)
	go func() { ended <- stdio.Serve(ctx, os.Stdin, os.Stdout, s.protocol) }()
	select {
	case err := <-ended:
		if err != nil {
			return fmt.Errorf("docs: serve standard input: %w", err)
		}
	case <-ctx.Done(): // a read of standard input may never return
	}
	return nil
}

// modulePath is that of this module.
const modulePath = "github.com/plinthgo/plinth/docs"

// Version is the version of this module that the program was built with, "(devel)" where
// it was built from a work tree, and "(unknown)" where the program does not say.
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
