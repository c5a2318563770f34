package site

import (
	"log/slog"
	"net/http"
	"sync"

	"github.com/plinthgo/plinth/docs/internal/blob"
	"github.com/plinthgo/plinth/docs/internal/page"
)

// A form is what a page is made for.
type form int

const (
	served form = iota // by this program, which also answers searches
	static             // by a host of files: the script searches in a file
)

const htmlType = "text/html; charset=utf-8"

// A document is a page in HTML that is made when it is first asked for.
type document struct {
	render func(form) ([]byte, error)
	served func() (*blob.Blob, error) // renders once
	page   *page.Page                 // nil for what is made of several
}

// add puts a document under a path. A later one takes the place of an earlier one.
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

// fail answers for a page that could not be made, and says why in the log only.
func fail(w http.ResponseWriter, r *http.Request, err error) {
	slog.ErrorContext(r.Context(), "showing the documentation",
		slog.String("path", r.URL.Path), slog.Any("error", err))
	http.Error(w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
}

// markdownURL is the address of a page's source.
func markdownURL(p *page.Page) string { return p.URL() + ".md" }
