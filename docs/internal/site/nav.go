package site

import (
	"path"
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

// A navNode is an entry of the navigation tree: a page, a folder that opens and closes, or a titled group.
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
	return b.nodes(sector.Tree, "/")
}

type navBuilder struct {
	current  *page.Page
	language string
}

func (b navBuilder) nodes(nodes []*page.Node, dir string) []navNode {
	var list []navNode
	for _, n := range nodes {
		list = append(list, b.node(n, dir))
	}
	return list
}

func (b navBuilder) node(n *page.Node, dir string) navNode {
	entry := navNode{link: b.link(n)}
	if len(n.Children) == 0 {
		return entry
	}
	below := commonDir(n)
	if holdsOneFolder(n, below) {
		below = dir
	}
	entry.Folder = below != dir
	entry.Group = !entry.Folder
	entry.Children = b.nodes(n.Children, below)
	entry.Open = b.current != nil && (b.holds(n.Page) || strings.HasPrefix(b.current.Path, strings.TrimSuffix(below, "/")+"/"))
	return entry
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

// commonDir is the folder that holds all pages of a node: a group has that of its parent, a folder has a deeper one.
func commonDir(n *page.Node) string {
	dir := ""
	var visit func(*page.Node)
	visit = func(n *page.Node) {
		if n.Page != nil && len(n.Children) == 0 {
			dir = sharedDir(dir, path.Dir(n.Page.Path))
		}
		for _, child := range n.Children {
			visit(child)
		}
	}
	visit(n)
	return dir
}

// holdsOneFolder tells of a group whose only entry is a folder, whose pages are then all as deep as the group's.
func holdsOneFolder(n *page.Node, dir string) bool {
	return n.Page == nil && len(n.Children) == 1 && len(n.Children[0].Children) > 0 && commonDir(n.Children[0]) == dir
}

// sharedDir is the deepest folder above both; an empty one stands for no limit.
func sharedDir(a, b string) string {
	if a == "" {
		return b
	}
	for a != "/" && a != b && !strings.HasPrefix(b, a+"/") {
		a = path.Dir(a)
	}
	return a
}

// breadcrumbs are the titles above a page, from its sector down. A folder without a page of its own has no address.
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

// sectorLink leads to a sector's index in a language, or to the overview that stands in its place.
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
