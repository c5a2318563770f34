package site

import (
	"encoding/json"
	"net/http"

	"github.com/plinthgo/plinth/docs/internal/blob"
	"github.com/plinthgo/plinth/docs/internal/page"
	"github.com/plinthgo/plinth/docs/internal/search"
)

// A match is a search result in the format of Fumadocs clients.
type match struct {
	ID          string   `json:"id"`
	URL         string   `json:"url"`
	Type        string   `json:"type"` // page, heading or text; a page precedes its matches
	Content     string   `json:"content"`
	Breadcrumbs []string `json:"breadcrumbs,omitempty"`
}

// serveSearchAPI serves /api/search?query=words. The optional parameter tag is the name
// of a sector. A query without a word has no results and is not an error, because
// Fumadocs clients send an empty query when the search box is cleared.
func (s *Site) serveSearchAPI(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	result, err := s.config.Index.Search(search.Query{Text: q.Get("query"), Sector: q.Get("tag")})
	if err != nil {
		result = search.Result{}
	}
	body, err := json.Marshal(matches(result.Hits))
	if err != nil {
		fail(w, r, err)
		return
	}
	blob.Once(r, "application/json; charset=utf-8", blob.Revalidate, body).ServeHTTP(w, r)
}

// matches groups hits by page, in the order of the best hit of each page.
func matches(hits []search.Hit) []match {
	var order []*page.Page
	byPage := map[*page.Page][]match{}
	for _, h := range hits {
		if byPage[h.Page] == nil {
			order = append(order, h.Page)
			byPage[h.Page] = []match{pageMatch(h.Page)}
		}
		url := sectionURL(h.Page, h.Anchor)
		if h.Heading != "" {
			byPage[h.Page] = append(byPage[h.Page],
				match{ID: url, URL: url, Type: "heading", Content: h.Heading})
		}
		if h.Excerpt != "" {
			byPage[h.Page] = append(byPage[h.Page],
				match{ID: url + ":text", URL: url, Type: "text", Content: h.Excerpt})
		}
	}
	list := []match{}
	for _, p := range order {
		list = append(list, byPage[p]...)
	}
	return list
}

func pageMatch(p *page.Page) match {
	m := match{ID: p.URL(), URL: p.URL(), Type: "page", Content: p.Title}
	for _, crumb := range breadcrumbs(p) {
		m.Breadcrumbs = append(m.Breadcrumbs, crumb.Title)
	}
	return m
}
