// Package page loads the documentation: its sectors, their order, and their pages.
//
// Load returns an immutable Library, which is safe for concurrent use without locks. Live
// reload loads a new one. A file order.yaml describes each directory of the content:
//
//	title: Guide
//	title_zh: 指南
//	description: One sentence, for sectors only.
//	description_zh: 一句话。
//	pages: [quick-start, decisions/]      # or groups: [{title, title_zh, pages}]
//
// A page is a Markdown file with front matter (title, description and optional keywords).
// Its Chinese translation has the suffix .zh.md and is not listed in order.yaml. The file
// name of a page is its address. Names of pages and directories consist of letters,
// digits, '-', '_' and '.', and must not end with an extension of files that the site
// generates, such as .html.
package page

import (
	"io/fs"
	"strings"

	"github.com/plinthgo/plinth/docs/internal/markup"
)

// Languages of pages.
const (
	English = "en"
	Chinese = "zh"
)

// A Library is the whole documentation. It is immutable.
type Library struct {
	sectors []*Sector
	pages   []*Page
	files   map[string]*Page // by Page.File
	faults  []Fault
}

// A Fault is a problem with an order or a file name that does not prevent loading.
type Fault struct{ File, Text string }

// A Sector is a top-level directory of the documentation.
type Sector struct {
	Name          string // of the directory, such as guide
	Title         string
	TitleZh       string // Title if the sector has no Chinese title
	Description   string
	DescriptionZh string // empty without a Chinese description
	Tree          []*Node
	Pages         []*Page // in the authored order, each followed by its translation
}

// A Node is an entry of a sector's tree: a page, a directory, or a titled group.
type Node struct {
	Title    string
	TitleZh  string // Title if there is no Chinese title
	Page     *Page  // nil for a group or a directory without an index page
	Dir      string // path of a directory within the sector, such as /decisions; empty for others
	Children []*Node
}

// A Page is a Markdown file.
type Page struct {
	Sector      *Sector
	Path        string // path within the sector, such as /decisions/jobs; / for the index of the sector
	Title       string
	Description string
	Keywords    []string // queries whose first result is the page
	Language    string   // English or Chinese
	File        string   // path within the content, such as guide/decisions/jobs.md
	Import      string   // import path of the package; empty outside the Go reference
	// Markdown after the front matter; links to pages are addresses such as
	// /docs/base-go/xdb#open
	Body       string
	Sections   []markup.Section
	Twin       *Page // translation, or nil
	Prev, Next *Page // adjacent pages of the same sector and language, or nil
	Listed     bool  // whether an order.yaml lists the page or its twin

	fsys   fs.FS // contains File
	offset int   // lines before the source
}

// Source returns the Markdown after the front matter, with relative links. It reads the
// file again, because only checks need the source, and returns "" if that fails.
func (p *Page) Source() string {
	data, err := fs.ReadFile(p.fsys, p.File)
	if err != nil {
		return ""
	}
	_, body, _ := split(data) // parsed before
	return string(body)
}

// URL returns the address of the page on the site, such as /docs/guide/quick-start.
func (p *Page) URL() string {
	return "/docs/" + p.Sector.Name + strings.TrimSuffix(p.Path, "/")
}

// Markdown returns the page for language models: a heading with title and address, the
// import path if the page has one, and the body.
func (p *Page) Markdown() string {
	head := "# " + p.Title + " (" + p.URL() + ")\n\n"
	if p.Import != "" {
		head += "Import path: `" + p.Import + "`\n\n"
	}
	return head + p.Text()
}

// Line returns the line of the file for a line of the source. Both count from 1.
func (p *Page) Line(line int) int { return line + p.offset }

// HasAnchor reports whether a heading has the anchor.
func (p *Page) HasAnchor(anchor string) bool {
	for _, s := range p.Sections {
		if s.Anchor == anchor && s.Heading != "" {
			return true
		}
	}
	return false
}

// Sectors returns the sectors in the authored order.
func (l *Library) Sectors() []*Sector { return l.sectors }

// Pages returns all pages in the authored order.
func (l *Library) Pages() []*Page { return l.pages }

// Faults returns the problems of orders and file names.
func (l *Library) Faults() []Fault { return l.faults }

// Sector returns the sector with a name, which may have the suffix .md or .mdx, or nil.
func (l *Library) Sector(name string) *Sector {
	name = withoutSuffix(name)
	for _, s := range l.sectors {
		if s.Name == name {
			return s
		}
	}
	return nil
}

// File returns the page with a file path within the content, or nil.
func (l *Library) File(name string) *Page { return l.files[name] }
