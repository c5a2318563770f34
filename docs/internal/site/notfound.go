package site

import (
	"net/http"
	"strings"

	"github.com/plinthgo/plinth/docs/internal/blob"
	"github.com/plinthgo/plinth/docs/internal/page"
)

// serveNotFound answers 404 with the pages whose addresses look most like the one asked
// for.
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

// nearest are the pages whose addresses look most like a path, each in the reader's
// language where there is such a one.
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
