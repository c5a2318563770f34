// Package site serves the documentation as HTML, with search, a sitemap and robots.txt.
//
// It renders pages from a snapshot of the content with html/template, goldmark and
// chroma; there is no build step. A page is rendered on the first request and cached with
// its compressed form. All pages work without JavaScript. The script adds the search box,
// copy buttons and the color scheme switch.
//
// Files returns the site for static hosts.
package site

import (
	"fmt"
	"html/template"
	"io/fs"
	"maps"
	"net/http"
	"strings"

	"github.com/plinthgo/plinth/docs/internal/blob"
	"github.com/plinthgo/plinth/docs/internal/markup"
	"github.com/plinthgo/plinth/docs/internal/page"
	"github.com/plinthgo/plinth/docs/internal/search"
)

// Config configures a Site. Library and Index are required.
type Config struct {
	Library *page.Library
	Index   *search.Index
	// BaseURL is the public address of the site, such as https://docs.example.com. If it
	// is empty, pages have no canonical address and the site has no sitemap.
	BaseURL string
	// EditURL is the prefix of edit links; the file name of the page follows. If it is
	// empty, pages have no edit link.
	EditURL string
	Version string // shown in the footer if it starts with v
	Live    bool   // reload pages when /api/reload reports a change
}

// Site is an http.Handler for the pages of the documentation. It is safe for concurrent
// use.
type Site struct {
	config    Config
	templates map[string]*template.Template
	renderers map[string]*markup.Renderer // by language
	assets    assets
	pages     map[string]*document // by path of the URL
	files     map[string]lazyBlob  // other files, by path of the URL
}

// New returns a site. It renders pages later, on the first request.
func New(c Config) (*Site, error) { return newSite(c, embedded) }

func newSite(c Config, files fs.FS) (*Site, error) {
	c.BaseURL = strings.TrimRight(c.BaseURL, "/")
	if c.EditURL != "" && !strings.HasSuffix(c.EditURL, "/") {
		c.EditURL += "/"
	}
	s := &Site{
		config: c, pages: map[string]*document{}, files: map[string]lazyBlob{},
		renderers: map[string]*markup.Renderer{},
	}
	var err error
	if s.assets, err = loadAssets(files); err != nil {
		return nil, fmt.Errorf("site: %w", err)
	}
	if s.templates, err = loadTemplates(s.assets); err != nil {
		return nil, fmt.Errorf("site: %w", err)
	}
	for _, language := range []string{page.English, page.Chinese} {
		s.renderers[language] = markup.NewRenderer(markup.Options{
			Words:   wordsOf(language).Markup,
			Diagram: s.assets.diagram,
		})
	}
	s.addFiles()
	s.addPages()
	return s, nil
}

// iconPath is the address of the icon without a hash.
const iconPath = "/favicon.svg"

func (s *Site) addFiles() {
	maps.Copy(s.files, s.assets.files)
	s.files[iconPath] = s.assets.named("favicon.svg", blob.Revalidate)
	s.files["/robots.txt"] = lazily("text/plain; charset=utf-8", blob.Revalidate, s.robots())
	if s.config.BaseURL != "" {
		s.files["/sitemap.xml"] = lazily("application/xml; charset=utf-8",
			blob.Revalidate, s.sitemap())
	}
}

func (s *Site) addPages() {
	s.add(homePath(page.English),
		func(f form) ([]byte, error) { return s.renderHome(f, page.English) })
	s.add(homePath(page.Chinese),
		func(f form) ([]byte, error) { return s.renderHome(f, page.Chinese) })
	for _, sector := range s.config.Library.Sectors() {
		s.add("/docs/"+sector.Name,
			func(f form) ([]byte, error) { return s.renderSector(f, sector) })
	}
	for _, p := range s.config.Library.Pages() {
		s.add(p.URL(), func(f form) ([]byte, error) { return s.renderPage(f, p) })
		s.pages[p.URL()].page = p
	}
}

// ServeHTTP implements http.Handler.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	protect(w.Header())
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, http.StatusText(http.StatusMethodNotAllowed), http.StatusMethodNotAllowed)
		return
	}
	switch path := r.URL.Path; {
	case path == "/search":
		s.serveSearch(w, r)
	case path == "/api/search":
		s.serveSearchAPI(w, r)
	case path == "/favicon.ico": // requested by browsers by default
		w.Header().Set("Cache-Control", "public, max-age=86400")
		redirect(w, r, iconPath)
	case s.files[path] != nil:
		if strings.HasSuffix(path, ".svg") {
			protectPicture(w.Header())
		}
		s.files[path]().ServeHTTP(w, r)
	case s.pages[path] != nil:
		s.pages[path].ServeHTTP(w, r)
	default:
		s.serveOther(w, r)
	}
}

// serveOther redirects to the canonical address of a page, or responds 404 with similar
// pages.
func (s *Site) serveOther(w http.ResponseWriter, r *http.Request) {
	path := strings.TrimRight(r.URL.Path, "/")
	if s.pages[path] != nil {
		redirect(w, r, path)
		return
	}
	if rest, ok := strings.CutPrefix(path, "/docs/"); ok {
		sector, below, _ := strings.Cut(rest, "/")
		if p := s.config.Library.Find(sector, "/"+below); p != nil {
			redirect(w, r, p.URL())
			return
		}
	}
	s.serveNotFound(w, r)
}

// redirect redirects permanently to a path of the site and preserves the query.
func redirect(w http.ResponseWriter, r *http.Request, path string) {
	if r.URL.RawQuery != "" {
		path += "?" + r.URL.RawQuery
	}
	http.Redirect(w, r, path, http.StatusMovedPermanently) //nolint:gosec // never a path as it was received
}
