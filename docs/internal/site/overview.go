package site

import (
	"cmp"

	"github.com/plinthgo/plinth/docs/internal/page"
)

// An entry is a page with its description, or a group of pages.
type entry struct {
	link

	Description string
	Children    []entry
}

// renderSector renders the overview of a sector without an index page.
func (s *Site) renderSector(f form, sector *page.Sector) ([]byte, error) {
	v := s.frame(f, page.English)
	v.Title, v.Description = sector.Title, sector.Description
	s.address(&v, "/docs/"+sector.Name, "")
	v.Sectors, v.Nav = s.sectorLinks(sector, page.English), navigation(sector, nil, page.English)
	v.Body = entries(navBuilder{language: page.English}, sector.Tree)
	return s.execute("sector", v)
}

func entries(b navBuilder, nodes []*page.Node) []entry {
	var list []entry
	for _, n := range nodes {
		e := entry{link: b.link(n), Children: entries(b, n.Children)}
		if n.Page != nil {
			e.Description = n.Page.Description
		}
		list = append(list, e)
	}
	return list
}

// firstPages is the number of pages per sector on the home page.
const firstPages = 6

// A card is a sector on the home page.
type card struct {
	link

	Description     string
	DescriptionLang string // language, if it differs from the page
	Count           int
	Pages           []link
}

func (s *Site) renderHome(f form, language string) ([]byte, error) {
	v := s.frame(f, language)
	v.Title, v.Description = v.W.Documentation, v.W.Tagline
	other := page.English
	if language == page.English {
		other = page.Chinese
	}
	s.address(&v, homePath(language), homePath(other))
	v.Sectors = s.sectorLinks(nil, language)
	var cards []card
	for _, sector := range s.config.Library.Sectors() {
		cards = append(cards, sectorCard(sector, language))
	}
	v.Body = cards
	return s.execute("home", v)
}

// sectorCard returns the card of a sector. On the Chinese home page, translated pages
// come first.
func sectorCard(sector *page.Sector, language string) card {
	c := card{link: sectorLink(sector, language), Description: sector.Description}
	switch {
	case language == page.English:
	case sector.DescriptionZh != "":
		c.Description = sector.DescriptionZh
	default:
		c.DescriptionLang = page.English
	}
	var own, others []link
	for _, p := range sector.Pages {
		if p.Language == page.English {
			c.Count++
		}
		switch {
		case p.Path == "/" || p.Twin != nil && p.Twin.Path == "/": // linked by the card
		case p.Language == language:
			own = append(own, link{Title: p.Title, URL: p.URL()})
		case language != page.English && p.Twin == nil:
			others = append(others, link{Title: p.Title, URL: p.URL(), Lang: p.Language})
		}
	}
	c.Pages = append(own, others...)
	c.Pages = c.Pages[:min(len(c.Pages), firstPages)]
	c.Count = cmp.Or(c.Count, len(sector.Pages))
	return c
}
