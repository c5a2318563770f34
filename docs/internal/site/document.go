package site

import (
	"log/slog"
	"net/http"
	"sync"

	"github.com/plinthgo/plinth/docs/internal/blob"
	"github.com/plinthgo/plinth/docs/internal/page"
)

// A form is the way in which a page is published.
type form int

const (
	served form = iota // by Site, which also serves searches
	static             // by a static host: the script searches in a file
)

const htmlType = "text/html; charset=utf-8"

// A document is an HTML page that is rendered on the first request.
type document struct {
	render func(form) ([]byte, error)
	served func() (*blob.Blob, error) // renders once
	page   *page.Page                 // nil for overviews
}

// add registers a document for a path and replaces an earlier one.
func (s *Site) add(path string, render func(form) ([]byte, error)) {
	s.pages[path] = &document{render: render, served: sync.OnceValues(func() (*blob.Blob, error) {
		body, err := render(served)
		if err != nil {
			return nil, err
		}
		return blob.New(htmlType, blob.Revalidate, body), nil
	})}
}

// ServeHTTP implements http.Handler.
func (d *document) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := d.served()
	if err != nil {
		fail(w, r, err)
		return
	}
	if d.page != nil {
		w.Header().Set("Link", "<"+markdownURL(d.page)+`>; rel="alternate"; type="text/markdown"`)
	}
	body.ServeHTTP(w, r)
}

// fail logs an error and responds with 500, without details.
func fail(w http.ResponseWriter, r *http.Request, err error) {
	slog.ErrorContext(r.Context(), "render page failed",
		slog.String("path", r.URL.Path), slog.Any("error", err))
	http.Error(w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
}

// markdownURL returns the address of the Markdown of a page.
func markdownURL(p *page.Page) string { return p.URL() + ".md" }
