package site

import (
	"strings"

	"github.com/plinthgo/plinth/docs/internal/page"
)

// A link is a link to a page.
type link struct {
	Title   string
	URL     string
	Lang    string // language, if it differs from the page that contains the link
	Current bool
}

// A navNode is an entry of the navigation tree: a page, a collapsible directory or a
// titled group.
type navNode struct {
	link // the page or the index of the directory; URL is empty if there is no page

	Folder   bool
	Group    bool
	Open     bool // directory with the current page
	Children []navNode
}

// navigation returns the tree of a sector for the current page.
func navigation(sector *page.Sector, current *page.Page, language string) []navNode {
	b := navBuilder{current: current, language: language}
	return b.nodes(sector.Tree)
}

type navBuilder struct {
	current  *page.Page
	language string
}

func (b navBuilder) nodes(nodes []*page.Node) []navNode {
	var list []navNode
	for _, n := range nodes {
		entry := navNode{link: b.link(n), Children: b.nodes(n.Children)}
		if len(n.Children) > 0 {
			entry.Folder, entry.Group = n.Dir != "", n.Dir == ""
			entry.Open = b.current != nil &&
				(b.isCurrent(n.Page) || strings.HasPrefix(b.current.Path, n.Dir+"/"))
		}
		list = append(list, entry)
	}
	return list
}

// link returns the link to the node's page, or to its translation if the language has
// one.
func (b navBuilder) link(n *page.Node) link {
	l := link{Title: n.Title}
	if b.language == page.Chinese {
		l.Title = n.TitleZh
	}
	p := n.Page
	if p == nil {
		return l
	}
	if p.Path == "/" {
		l.Title = wordsOf(b.language).Overview
	}
	if p.Language != b.language && p.Twin != nil {
		p = p.Twin
	}
	l.URL, l.Current = p.URL(), b.isCurrent(n.Page)
	if p.Language != b.language {
		l.Lang = p.Language
	}
	return l
}

// isCurrent reports whether p or its translation is the current page.
func (b navBuilder) isCurrent(p *page.Page) bool {
	return p != nil && b.current != nil && (p == b.current || p.Twin == b.current)
}

// breadcrumbs returns the ancestors of a page, starting with its sector. A directory
// without an index page has no URL.
func breadcrumbs(p *page.Page) []link {
	b := navBuilder{current: p, language: p.Language}
	crumbs := []link{sectorLink(p.Sector, p.Language)}
	var find func([]*page.Node) []link
	find = func(nodes []*page.Node) []link {
		for _, n := range nodes {
			if b.isCurrent(n.Page) {
				return []link{}
			}
			if above := find(n.Children); above != nil {
				return append([]link{b.link(n)}, above...)
			}
		}
		return nil
	}
	return append(crumbs, find(p.Sector.Tree)...)
}

// sectorLink returns the link to the index or overview of a sector.
func sectorLink(s *page.Sector, language string) link {
	l := link{Title: s.Title, URL: "/docs/" + s.Name}
	if language == page.Chinese {
		l.Title = s.TitleZh
	}
	for _, p := range s.Pages {
		if p.Path == "/" && p.Language != language && p.Twin != nil {
			l.URL = p.Twin.URL()
		}
	}
	return l
}

// sectorLinks returns the links to all sectors and marks the current one.
func (s *Site) sectorLinks(current *page.Sector, language string) []link {
	var links []link
	for _, sector := range s.config.Library.Sectors() {
		l := sectorLink(sector, language)
		l.Current = sector == current
		links = append(links, l)
	}
	return links
}
