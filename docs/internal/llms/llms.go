// Package llms serves the documentation as text for language models: llms.txt
// (llmstxt.org), all pages in one file, and single pages as Markdown.
package llms

import (
	"net/http"
	"strings"
	"sync"

	"github.com/plinthgo/plinth/docs/internal/blob"
	"github.com/plinthgo/plinth/docs/internal/page"
)

// Media types.
const (
	plainText = "text/plain; charset=utf-8"
	markdown  = "text/markdown; charset=utf-8"
)

// Prefix is the prefix of single pages, before their address on the site.
const Prefix = "/llms.mdx"

// Title and Summary are the head of the index.
const (
	Title   = "Plinth"
	Summary = "The base of a Go service: one model of errors and responses over HTTP and gRPC, IDs, logs, " +
		"validation, cache, database drivers, durable jobs, schedules, messages, ordered startup and graceful shutdown."
)

// Documents serves the documentation as plain text. It is safe for concurrent use.
type Documents struct {
	index, full func() *blob.Blob
	// created on first use, independently of each other
	pages map[*page.Page]func() *blob.Blob
}

// New returns the documents of a library. The argument base is the address of the site,
// as for Index.
func New(l *page.Library, base string) *Documents {
	t := &Documents{
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

// ServeIndex serves /llms.txt.
func (t *Documents) ServeIndex(w http.ResponseWriter, r *http.Request) { t.index().ServeHTTP(w, r) }

// ServeFull serves /llms-full.txt.
func (t *Documents) ServeFull(w http.ResponseWriter, r *http.Request) { t.full().ServeHTTP(w, r) }

// ServePage serves a page of the library as Markdown.
func (t *Documents) ServePage(w http.ResponseWriter, r *http.Request, p *page.Page) {
	t.pages[p]().ServeHTTP(w, r)
}

// ByURL returns the page with an address, or nil. The address may have a Markdown suffix
// and a trailing slash.
func ByURL(l *page.Library, url string) *page.Page {
	rest, ok := strings.CutPrefix(url, "/docs/")
	if !ok {
		return nil
	}
	sector, path, _ := strings.Cut(rest, "/")
	return l.Find(sector, path)
}

// Index returns llms.txt: title, summary, and a list of pages for each sector in the
// authored order. The links point to Markdown. They start with base, such as
// https://docs.example.org; if base is empty, they are absolute paths.
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

// Full returns all pages in the authored order.
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
