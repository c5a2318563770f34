// Package llms gives the documentation to language models as text: the index of llms.txt
// (llmstxt.org), everything in one file, and single pages as Markdown.
package llms

import (
	"net/http"
	"strings"
	"sync"

	"github.com/plinthgo/plinth/docs/internal/blob"
	"github.com/plinthgo/plinth/docs/internal/page"
)

// Media types of the texts.
const (
	plainText = "text/plain; charset=utf-8"
	markdown  = "text/markdown; charset=utf-8"
)

// Prefix is where single pages lie, before their address on the site.
const Prefix = "/llms.mdx"

// Title and Summary stand at the head of the index.
const (
	Title   = "Plinth"
	Summary = "The base that a Go service stands on: one model of errors and responses over HTTP and gRPC, ids, logs, " +
		"validation, cache, database drivers, durable jobs, schedules and messages, and a start and a stop that lose nothing."
)

// Texts are the documentation as text. They may serve several requests at once.
type Texts struct {
	index, full func() *blob.Blob
	// each made when it is first asked for, without holding up the others
	pages map[*page.Page]func() *blob.Blob
}

// New returns the texts of a library. base is the address of the site, as in Index.
func New(l *page.Library, base string) *Texts {
	t := &Texts{
		index: lazily(plainText, func() string { return Index(l, base) }),
		full:  lazily(plainText, func() string { return Full(l) }),
		pages: map[*page.Page]func() *blob.Blob{},
	}
	for _, p := range l.Pages() {
		t.pages[p] = lazily(markdown, p.Markdown)
	}
	return t
}

func lazily(contentType string, text func() string) func() *blob.Blob {
	return sync.OnceValue(func() *blob.Blob {
		return blob.New(contentType, blob.Revalidate, []byte(text()))
	})
}

// ServeIndex answers GET /llms.txt.
func (t *Texts) ServeIndex(w http.ResponseWriter, r *http.Request) { t.index().ServeHTTP(w, r) }

// ServeFull answers GET /llms-full.txt.
func (t *Texts) ServeFull(w http.ResponseWriter, r *http.Request) { t.full().ServeHTTP(w, r) }

// ServePage answers with one page of the library as Markdown.
func (t *Texts) ServePage(w http.ResponseWriter, r *http.Request, p *page.Page) {
	t.pages[p]().ServeHTTP(w, r)
}

// ByURL returns the page of an address on the site, with or without a suffix of Markdown
// and a slash at its end, or nil.
func ByURL(l *page.Library, url string) *page.Page {
	rest, ok := strings.CutPrefix(url, "/docs/")
	if !ok {
		return nil
	}
	sector, path, _ := strings.Cut(rest, "/")
	return l.Find(sector, path)
}

// Index is the list of all pages in the form of llms.txt: title, summary, one list a
// sector in the authored order. The links lead to the pages as Markdown. They begin with
// base, such as https://docs.example.org; if base is empty, they are paths on the host of
// the index.
func Index(l *page.Library, base string) string {
	var b strings.Builder
	b.WriteString("# " + Title + "\n\n> " + Summary + "\n")
	for _, s := range l.Sectors() {
		b.WriteString("\n## " + s.Title + "\n\n")
		for _, p := range s.Pages {
			b.WriteString("- [" + p.Title + "](" + base + p.URL() + ".md): " + p.Description + "\n")
		}
	}
	return b.String()
}

// Full is every page, one after the other in the authored order.
func Full(l *page.Library) string {
	var b strings.Builder
	for i, p := range l.Pages() {
		if i > 0 {
			b.WriteString("\n\n")
		}
		b.WriteString(strings.TrimRight(p.Markdown(), "\n"))
	}
	b.WriteString("\n")
	return b.String()
}
