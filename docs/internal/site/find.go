package site

import (
	"cmp"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/plinthgo/plinth/docs/internal/blob"
	"github.com/plinthgo/plinth/docs/internal/page"
	"github.com/plinthgo/plinth/docs/internal/search"
)

// maxQuery is the number of characters of a query that are used and shown.
const maxQuery = 200

// perSearchPage is the number of results of a page.
const perSearchPage = 20

// searchBody is the data of the search template.
type searchBody struct {
	Query       string
	Empty       bool // the query has no word
	Total       int
	Hits        []hit
	Suggestions []link
	Prev, Next  string // addresses
}

// A hit is a matching section.
type hit struct {
	link

	Sector  string
	Heading string
	Excerpt []piece
}

// A piece is a part of an excerpt. Mark is set for words of the query.
type piece struct {
	Text string
	Mark bool
}

// serveSearch serves the search page, which works without JavaScript.
func (s *Site) serveSearch(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	language := page.English
	if q.Get("lang") == page.Chinese {
		language = page.Chinese
	}
	number, err := strconv.Atoi(q.Get("page"))
	if err != nil || number < 1 || number > 1000 {
		number = 1
	}
	body, err := s.renderSearch(served, language, q.Get("q"), number)
	if err != nil {
		fail(w, r, err)
		return
	}
	blob.Once(r, htmlType, blob.Revalidate, body).ServeHTTP(w, r)
}

func (s *Site) renderSearch(f form, language, query string, number int) ([]byte, error) {
	query = shorten(strings.TrimSpace(strings.ToValidUTF8(query, "")))
	v := s.frame(f, language)
	v.Title, v.Description, v.Hidden = v.W.Search, v.W.SearchHint, true
	if query != "" {
		v.Title = query + " · " + v.W.Search
	}
	other := page.Chinese
	if language == page.Chinese {
		other = page.English
	}
	v.Twin = &link{Title: v.W.OtherLanguage, URL: searchURL(other, query, 1), Lang: other}
	v.Sectors = s.sectorLinks(nil, language)
	v.Body = s.find(language, query, number)
	return s.execute("search", v)
}

// shorten truncates a query to maxQuery characters and appends an ellipsis.
func shorten(query string) string {
	count := 0
	for i := range query {
		if count == maxQuery {
			return query[:i] + "…"
		}
		count++
	}
	return query
}

func (s *Site) find(language, query string, number int) searchBody {
	b := searchBody{Query: query}
	result, err := s.config.Index.Search(search.Query{
		Text: query, Limit: perSearchPage,
		Offset: (number - 1) * perSearchPage,
	})
	if err != nil {
		b.Empty = true
		return b
	}
	b.Total = result.Total
	for _, suggestion := range result.Suggestions {
		b.Suggestions = append(b.Suggestions,
			link{Title: suggestion, URL: searchURL(language, suggestion, 1)})
	}
	words := marker(query)
	for _, found := range result.Hits {
		b.Hits = append(b.Hits, newHit(found, words, language))
	}
	if number > 1 {
		b.Prev = searchURL(language, query, number-1)
	}
	if number*perSearchPage < result.Total {
		b.Next = searchURL(language, query, number+1)
	}
	return b
}

func newHit(found search.Hit, words *regexp.Regexp, language string) hit {
	p := found.Page
	h := hit{
		link:    link{Title: p.Title, URL: sectionURL(p, found.Anchor)},
		Sector:  sectorLink(p.Sector, language).Title,
		Heading: found.Heading, Excerpt: mark(cmp.Or(found.Excerpt, p.Description), words),
	}
	if p.Language != language {
		h.Lang = p.Language
	}
	return h
}

func sectionURL(p *page.Page, anchor string) string {
	if anchor == "" {
		return p.URL()
	}
	return p.URL() + "#" + anchor
}

func searchURL(language, query string, number int) string {
	values := url.Values{"q": {query}}
	if language != page.English {
		values.Set("lang", language)
	}
	if number > 1 {
		values.Set("page", strconv.Itoa(number))
	}
	return "/search?" + values.Encode()
}

// marker returns a case-insensitive pattern for the words of a query. It returns nil for
// a query without words or over the limits of the search.
func marker(query string) *regexp.Regexp {
	words := strings.FieldsFunc(query,
		func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
	if len(words) == 0 || len(words) > search.MaxWords || len(query) > search.MaxBytes {
		return nil
	}
	// the first alternative wins, so longer words come first
	slices.SortFunc(words, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	// words contain letters and digits only
	return regexp.MustCompile("(?i)" + strings.Join(words, "|"))
}

// mark splits a text into pieces at the matches of a pattern.
func mark(text string, words *regexp.Regexp) []piece {
	if words == nil {
		return []piece{{Text: text}}
	}
	var pieces []piece
	at := 0
	for _, found := range words.FindAllStringIndex(text, -1) {
		pieces = append(pieces, piece{Text: text[at:found[0]]},
			piece{Text: text[found[0]:found[1]], Mark: true})
		at = found[1]
	}
	return append(pieces, piece{Text: text[at:]})
}
