package check

import (
	"path"
	"strings"
	"unicode/utf8"

	"github.com/plinthgo/plinth/docs/internal/markup"
	"github.com/plinthgo/plinth/docs/internal/page"
)

// Limits of the length of a description in characters. Short descriptions say too little;
// search engines truncate long ones. Chinese text is shorter.
const (
	shortest   = 40
	shortestZh = 15
	longest    = 180
)

func (r *report) sector(s *page.Sector) {
	file := s.Name + "/order.yaml"
	if s.Description == "" {
		r.add(file, 0, "the sector has no description")
		return
	}
	r.description(file, s.Description, shortest)
	if s.DescriptionZh != "" {
		r.description(file, s.DescriptionZh, shortestZh)
	}
}

// description checks the length of a description.
func (r *report) description(file, text string, least int) {
	if n := utf8.RuneCountInString(text); n < least || n > longest || strings.Contains(text, "\n") {
		r.add(file, 0, "the description has %d characters: want one line of %d to %d",
			n, least, longest)
	}
}

// goSector is the sector of the Go reference, whose pages have an import path.
const goSector = "base-go"

// page checks the metadata and the headings of a page, and its translation.
func (r *report) page(p *page.Page) {
	if !p.Listed {
		r.add(p.File, 0, "no order.yaml lists the page: add it to the one of its directory")
	}
	if strings.ContainsAny(p.Title, "[]\n") {
		r.add(p.File, 0, "the title contains a bracket or a line break, which breaks lists of links")
	}
	least := shortest
	if p.Language == page.Chinese {
		least = shortestZh
	}
	if p.Description == "" {
		r.add(p.File, 0, "the front matter has no description")
	} else {
		r.description(p.File, p.Description, least)
	}
	if p.Sector.Name == goSector && p.Path != "/" && p.Import == "" {
		r.add(p.File, 0, "the page has no import path: name the package, such as `%s/core`", module)
	}
	for _, s := range p.Sections {
		if s.Level == 1 {
			r.add(p.File, 0, "heading %q has level 1, which is reserved for the title", s.Heading)
		}
	}
	if p.Language == page.Chinese {
		r.twin(p)
	}
}

// twin compares a translation with its page.
func (r *report) twin(p *page.Page) {
	if p.Twin == nil {
		r.add(p.File, 0, "the English page does not exist")
		return
	}
	if have, want := headings(p), headings(p.Twin); have != want {
		r.add(p.File, 0, "it has %d headings, the English page has %d: update the translation",
			have, want)
	}
}

func headings(p *page.Page) int { return len(p.Sections) - 1 }

// links checks the links of a page to other pages and to files of the repository.
func (r *report) links(p *page.Page) {
	for _, link := range markup.Links([]byte(p.Source())) {
		target, anchor, ok := r.config.Library.Target(p, link)
		switch {
		case !ok && !strings.Contains(link, "://") && !strings.HasPrefix(link, "mailto:"):
			r.add(p.File, r.line(p, link),
				"link %q: want a relative path of a .md page or an absolute URL", link)
		case !ok:
			r.sourceLink(p, link)
		case target == nil:
			r.add(p.File, r.line(p, link), "link %q: the page does not exist", link)
		case anchor != "" && !target.HasAnchor(anchor):
			r.add(p.File, r.line(p, link), "link %q: %s does not have the heading",
				link, target.File)
		}
	}
}

// line returns the line of the first occurrence of a link in the page's file, or 0.
func (*report) line(p *page.Page, link string) int {
	before, _, found := strings.Cut(p.Source(), "("+link)
	if !found {
		return 0
	}
	return p.Line(1 + strings.Count(before, "\n"))
}

// fences checks that diagrams are rendered.
func (r *report) fences(p *page.Page) {
	for _, f := range markup.Fences([]byte(p.Source())) {
		if f.Language == "mermaid" && r.config.HasDiagram != nil && !r.config.HasDiagram(f.Code) {
			r.add(p.File, p.Line(f.Line), "the diagram is not rendered: run make diagrams")
		}
	}
}

// relative returns the path within the repository of a path within the content.
func relative(file string) string { return path.Join("docs/content", file) }
