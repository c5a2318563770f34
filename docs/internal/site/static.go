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

// searchFile is the search index for static hosts.
const searchFile = "/search.json"

// Files returns the names and contents of the files of the site, for static hosts. A page
// is the index.html of a directory, so its address is the same as on a server; most hosts
// add a slash. The file for missing pages is 404.html. The content of a page that cannot
// be rendered is nil.
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

// A section is an entry of searchFile. One-letter names keep the file small.
type section struct {
	URL     string `json:"u"`
	Title   string `json:"t"`
	Heading string `json:"h,omitempty"`
	Text    string `json:"x,omitempty"`
	Lang    string `json:"l,omitempty"` // empty for English
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
