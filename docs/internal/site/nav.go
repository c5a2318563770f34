package site

import (
	"strings"

	"github.com/plinthgo/plinth/docs/internal/page"
)

// A link leads to a page.
type link struct {
	Title   string
	URL     string
	Lang    string // where it differs from the language of the page that holds the link
	Current bool
}

// A navNode is an entry of the navigation tree: a page, a folder that opens and closes,
// or a titled group.
type navNode struct {
	link // the page, or that of the folder; the URL is empty where there is none

	Folder   bool
	Group    bool
	Open     bool // a folder that holds the current page
	Children []navNode
}

// navigation returns the tree of a sector as a reader of the current page sees it.
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
				(b.holds(n.Page) || strings.HasPrefix(b.current.Path, n.Dir+"/"))
		}
		list = append(list, entry)
	}
	return list
}

// link is that of the node's page in the reader's language, where there is one.
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
	l.URL, l.Current = p.URL(), b.holds(n.Page)
	if p.Language != b.language {
		l.Lang = p.Language
	}
	return l
}

// holds tells whether the current page is p or its translation.
func (b navBuilder) holds(p *page.Page) bool {
	return p != nil && b.current != nil && (p == b.current || p.Twin == b.current)
}

// breadcrumbs are the titles above a page, from its sector down. A folder without a page
// of its own has no address.
func breadcrumbs(p *page.Page) []link {
	b := navBuilder{current: p, language: p.Language}
	crumbs := []link{sectorLink(p.Sector, p.Language)}
	var find func([]*page.Node) []link
	find = func(nodes []*page.Node) []link {
		for _, n := range nodes {
			if b.holds(n.Page) {
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

// sectorLink leads to a sector's index in a language, or to the overview that stands in
// its place.
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

// sectorLinks are the sectors, with the current one marked.
func (s *Site) sectorLinks(current *page.Sector, language string) []link {
	var links []link
	for _, sector := range s.config.Library.Sectors() {
		l := sectorLink(sector, language)
		l.Current = sector == current
		links = append(links, l)
	}
	return links
}
