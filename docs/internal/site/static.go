package site

import (
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/plinthgo/plinth/docs/internal/page"
)

// searchFile is where the script of the static form finds what to search in.
const searchFile = "/search.json"

// Files yields the site as files for a host that runs no program, by their names, with
// slashes. A page is the index.html of a folder, which every such host serves under the
// page's own address (most after a redirect to the one with a slash), and 404.html stands
// for what is missing. The body of a page that cannot be rendered is nil.
func (s *Site) Files() iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for _, address := range slices.Sorted(maps.Keys(s.pages)) {
			body, err := s.pages[address].render(static)
			if !yield(path.Join(address, "index.html")[1:], orNil(body, err)) {
				return
			}
		}
		for _, address := range slices.Sorted(maps.Keys(s.files)) {
			if !yield(address[1:], s.files[address]().Body()) {
				return
			}
		}
		body, err := s.renderNotFound(static, "/")
		if !yield("404.html", orNil(body, err)) {
			return
		}
		body, err = s.searchIndex()
		yield(searchFile[1:], orNil(body, err))
	}
}

func orNil(body []byte, err error) []byte {
	if err != nil {
		return nil
	}
	return body
}

// A section is an entry of the file that the script searches, with names of one letter to
// keep it small.
type section struct {
	URL     string `json:"u"`
	Title   string `json:"t"`
	Heading string `json:"h,omitempty"`
	Text    string `json:"x,omitempty"`
	Lang    string `json:"l,omitempty"` // where it is not English
}

func (s *Site) searchIndex() ([]byte, error) {
	list := []section{}
	for _, p := range s.config.Library.Pages() {
		for i, part := range p.Sections {
			entry := section{
				URL: sectionURL(p, part.Anchor), Title: p.Title, Heading: part.Heading,
				Text: part.Text,
			}
			if i == 0 {
				entry.Text = strings.TrimSpace(p.Description + " " + entry.Text)
			}
			if p.Language != page.English {
				entry.Lang = p.Language
			}
			list = append(list, entry)
		}
	}
	body, err := json.Marshal(list)
	if err != nil {
		return nil, fmt.Errorf("site: write the search index: %w", err)
	}
	return body, nil
}
