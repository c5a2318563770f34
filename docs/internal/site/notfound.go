package site

import (
	"net/http"
	"strings"

	"github.com/plinthgo/plinth/docs/internal/blob"
	"github.com/plinthgo/plinth/docs/internal/page"
)

// serveNotFound responds with 404 and lists the pages with the most similar addresses.
func (s *Site) serveNotFound(w http.ResponseWriter, r *http.Request) {
	body, err := s.renderNotFound(served, r.URL.Path)
	if err != nil {
		fail(w, r, err)
		return
	}
	blob.Once(r, htmlType, blob.Revalidate, body).ServeStatus(w, r, http.StatusNotFound)
}

func (s *Site) renderNotFound(f form, path string) ([]byte, error) {
	language := page.English
	if path == homePath(page.Chinese) ||
		strings.HasSuffix(strings.TrimRight(path, "/"), "."+page.Chinese) {
		language = page.Chinese
	}
	v := s.frame(f, language)
	v.Title, v.Description, v.Hidden = v.W.NotFound, v.W.NotFoundText, true
	v.Sectors = s.sectorLinks(nil, language)
	if f == served {
		v.Body = s.nearest(path, language)
	}
	return s.execute("notfound", v)
}

// nearest returns the pages with the most similar addresses, in the given language if
// translated.
func (s *Site) nearest(path, language string) []entry {
	var list []entry
	named := map[*page.Page]bool{}
	for _, p := range s.config.Library.NearestPage("", path) {
		if p.Language != language && p.Twin != nil {
			p = p.Twin
		}
		if named[p] {
			continue
		}
		named[p] = true
		e := entry{link: link{Title: p.Title, URL: p.URL()}, Description: p.Description}
		if p.Language != language {
			e.Lang = p.Language
		}
		list = append(list, e)
	}
	return list
}
