// Package site shows the documentation to people: pages in HTML, their search, and what
// search engines ask for.
//
// Everything is made on the server from one snapshot of the content, without a build
// step: html/template for the frame, goldmark and chroma for the text, one style sheet
// and one script. A page is made when it is first asked for and kept with its compressed
// form. All of it can be read without JavaScript; the script adds the search box, copy
// buttons and the choice of colours.
//
// The same pages can be written as files for any host of static files: see Files.
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

// Config is what a Site is made of.
type Config struct {
	Library *page.Library
	Index   *search.Index
	// BaseURL is the address under which readers reach the site, such as
	// https://docs.example.com. Without it there are no canonical addresses and no
	// sitemap, which must name whole addresses.
	BaseURL string
	// EditURL is put before the name of a page's file to make the link for editing it.
	// Without it there is no such link.
	EditURL string
	Version string // shown at the foot of each page if it begins with v
	Live    bool   // pages reload when /api/reload says so
}

// Site is an http.Handler for the pages of a documentation. It may be used by several
// goroutines at once.
type Site struct {
	config    Config
	templates map[string]*template.Template
	renderers map[string]*markup.Renderer // by language
	assets    assets
	pages     map[string]*document // by path of the URL
	files     map[string]lazyBlob  // what is no page, by path of the URL
}

// New makes a site. It renders nothing yet.
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

// iconPath is the address of the icon that stays when the icon changes.
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
	case path == "/favicon.ico": // where browsers look that have not read a page
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

// serveOther leads to the page that is meant where only the form of the address is wrong,
// or says what is near.
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

// redirect leads to an address of the site's own, for ever, with what was asked of it.
func redirect(w http.ResponseWriter, r *http.Request, path string) {
	if r.URL.RawQuery != "" {
		path += "?" + r.URL.RawQuery
	}
	http.Redirect(w, r, path, http.StatusMovedPermanently) //nolint:gosec // never a path as it was received
}
