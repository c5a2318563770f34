// Package page holds the documentation as it was read: sectors, their order, and pages.
//
// A Library is made once by Load and never changes, so all of its readers share it
// without locks; live reload makes another one. What lies in the content's folders is
// said by one small file a folder, order.yaml:
//
//	title: Guide
//	title_zh: 指南
//	description: One sentence, for sectors only.
//	description_zh: 一句话。
//	pages: [quick-start, decisions/]      # or groups: [{title, title_zh, pages}]
//
// A page is a Markdown file with front matter (title, description, and optionally
// keywords). Its translation into Chinese lies beside it, with the suffix .zh.md, and is
// not named in order.yaml. The name of a page is its address: it has letters, digits,
// '-', '_' and '.' only, as those of its folders, and ends in nothing that the site makes
// of a page, such as .html.
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

// A Library is the whole documentation. It is never changed after Load.
type Library struct {
	sectors []*Sector
	pages   []*Page
	files   map[string]*Page // by File
	faults  []Fault
}

// A Fault is what is wrong with an order or a file's name, and does not keep the
// documentation from being shown.
type Fault struct{ File, Text string }

// A Sector is a part of the documentation with a folder of its own.
type Sector struct {
	Name          string // of the folder, as guide
	Title         string
	TitleZh       string // the title where the sector has none in Chinese
	Description   string
	DescriptionZh string // empty where there is none in Chinese
	Tree          []*Node
	Pages         []*Page // in the authored order, translations after their page
}

// A Node is an entry of a sector's tree: a page, a folder, or a titled group.
type Node struct {
	Title    string
	TitleZh  string // the title where there is none in Chinese
	Page     *Page  // nil for a group, and for a folder without an index page
	Dir      string // of a folder within the sector, as /decisions; empty for others
	Children []*Node
}

// A Page is one file of Markdown.
type Page struct {
	Sector      *Sector
	Path        string // within the sector, as /decisions/jobs; / for the sector's index
	Title       string
	Description string
	Keywords    []string // queries that the page is the first result for
	Language    string   // English or Chinese
	File        string   // within the content, as guide/decisions/jobs.md
	Import      string   // import path of the package; empty outside the Go reference
	// Markdown after the front matter, with links among pages as addresses such as
	// /docs/base-go/xdb#open
	Body       string
	Sections   []markup.Section
	Twin       *Page // in the other language, or nil
	Prev, Next *Page // neighbours of the same sector and language, or nil
	Listed     bool  // whether an order.yaml names it, or its twin

	fsys   fs.FS // of File
	offset int   // lines of front matter before the source
}

// Source is the Markdown after the front matter as it stands, with relative links. It is
// read again, because only the checks ask for it; where that fails it is empty.
func (p *Page) Source() string {
	data, err := fs.ReadFile(p.fsys, p.File)
	if err != nil {
		return ""
	}
	_, body, _ := split(data) // it was read before
	return string(body)
}

// URL is the page's address on the site, as /docs/guide/quick-start.
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

// Line turns a line of the source into one of the file. Both count from 1.
func (p *Page) Line(line int) int { return line + p.offset }

// HasAnchor tells whether a heading of the page has the anchor.
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

// Faults returns what is wrong with the orders of folders, and with the names of files.
func (l *Library) Faults() []Fault { return l.faults }

// Sector returns the sector of a name, which may have a suffix of Markdown, or nil.
func (l *Library) Sector(name string) *Sector {
	name = withoutSuffix(name)
	for _, s := range l.sectors {
		if s.Name == name {
			return s
		}
	}
	return nil
}

// File returns the page of a file within the content, or nil.
func (l *Library) File(name string) *Page { return l.files[name] }
