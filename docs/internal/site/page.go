package site

import (
	"html/template"

	"github.com/plinthgo/plinth/docs/internal/markup"
	"github.com/plinthgo/plinth/docs/internal/page"
)

// pageBody is the data of the page template.
type pageBody struct {
	Crumbs      []link
	Description string
	Import      string // import path of the Go package, or empty
	Edit        string
	Contents    []heading
	HTML        template.HTML
	Prev, Next  *link
}

// A heading is an entry of the table of contents.
type heading struct {
	Title, Anchor string
	Children      []heading
}

func (s *Site) renderPage(f form, p *page.Page) ([]byte, error) {
	body, err := s.renderers[p.Language].HTML([]byte(p.Text()))
	if err != nil {
		return nil, err
	}
	v := s.frame(f, p.Language)
	v.Title, v.Description, v.Markdown = p.Title, p.Description, markdownURL(p)
	other := ""
	if p.Twin != nil {
		other = p.Twin.URL()
	}
	s.address(&v, p.URL(), other)
	v.Sectors, v.Nav = s.sectorLinks(p.Sector, p.Language), navigation(p.Sector, p, p.Language)
	b := pageBody{
		Crumbs: breadcrumbs(p), Description: p.Description, Import: p.Import,
		Contents: contents(p.Sections),
		HTML:     template.HTML(body), //nolint:gosec // made by markup, which renders no HTML of the source
		Prev:     neighbor(p.Prev), Next: neighbor(p.Next),
	}
	if s.config.EditURL != "" {
		b.Edit = s.config.EditURL + p.File
	}
	v.Body = b
	return s.execute("page", v)
}

func neighbor(p *page.Page) *link {
	if p == nil {
		return nil
	}
	return &link{Title: p.Title, URL: p.URL()}
}

// contents returns the table of contents: second-level headings with the third-level
// headings below them.
func contents(sections []markup.Section) []heading {
	var list []heading
	for _, section := range sections {
		h := heading{Title: section.Heading, Anchor: section.Anchor}
		switch {
		case section.Level == 2:
			list = append(list, h)
		case section.Level == 3 && len(list) > 0:
			last := &list[len(list)-1]
			last.Children = append(last.Children, h)
		}
	}
	return list
}
