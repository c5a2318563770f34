package docs

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/plinthgo/plinth/docs/internal/llms"
	"github.com/plinthgo/plinth/docs/internal/page"
	"github.com/plinthgo/plinth/docs/internal/search"
	"github.com/plinthgo/plinth/docs/internal/site"
	"github.com/plinthgo/plinth/docs/internal/tool"
)

// A snapshot is one version of the content in all formats.
type snapshot struct {
	library *page.Library
	baseURL string
	pages   *site.Site
	texts   *llms.Documents
	server  *mcp.Server
}

func newSnapshot(c *config) (*snapshot, error) {
	library, err := page.Load(c.content)
	if err != nil {
		return nil, err
	}
	index := search.New(library)
	pages, err := site.New(site.Config{
		Library: library, Index: index, BaseURL: c.baseURL, EditURL: c.editURL, Version: Version(),
		Live: c.folder != "",
	})
	if err != nil {
		return nil, err
	}
	return &snapshot{
		library: library, baseURL: c.baseURL, pages: pages, texts: llms.New(library, c.baseURL),
		server: tool.New(tool.Config{
			Library: library, Index: index, BaseURL: c.baseURL,
			Version: Version(),
		}),
	}, nil
}

// ServeHTTP serves the addresses that depend on the content.
func (s *snapshot) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "method not allowed: use GET or HEAD", http.StatusMethodNotAllowed)
		return
	}
	path := r.URL.Path
	switch {
	case path == "/llms.txt":
		s.texts.ServeIndex(w, r)
	case path == "/llms-full.txt":
		s.texts.ServeFull(w, r)
	case strings.HasPrefix(path, llms.Prefix+"/"):
		s.serveText(w, r, llms.ByURL(s.library, strings.TrimPrefix(path, llms.Prefix)))
	case path == "/docs", path == "/docs/":
		first := url.URL{Path: "/docs/" + s.library.Sectors()[0].Name, RawQuery: r.URL.RawQuery}
		http.Redirect(w, r, first.String(), http.StatusFound)
	case strings.HasPrefix(path, "/docs/"):
		s.serveDocument(w, r)
	default:
		s.pages.ServeHTTP(w, r)
	}
}

// serveDocument serves a page. It serves Markdown if the address has the suffix .md or
// .mdx, or if the client prefers Markdown.
func (s *snapshot) serveDocument(w http.ResponseWriter, r *http.Request) {
	if strings.HasSuffix(r.URL.Path, ".md") || strings.HasSuffix(r.URL.Path, ".mdx") {
		s.serveText(w, r, llms.ByURL(s.library, r.URL.Path))
		return
	}
	w.Header().Add("Vary", "Accept")
	if llms.PrefersMarkdown(r.Header.Values("Accept")) {
		s.serveText(w, r, llms.ByURL(s.library, r.URL.Path))
		return
	}
	s.pages.ServeHTTP(w, r)
}

// serveText serves the Markdown of a page, or 404 if p is nil.
func (s *snapshot) serveText(w http.ResponseWriter, r *http.Request, p *page.Page) {
	if p == nil {
		http.Error(w, "page not found: /llms.txt lists all pages", http.StatusNotFound)
		return
	}
	s.texts.ServePage(w, r, p)
}
