// Package search finds sections of the documentation, in English and in Chinese.
//
// An entry is a section of a page: a heading with its anchor and what follows it up to
// the next heading. Entries are ranked by BM25 over several fields (BM25F): the title,
// the path, the description and the keywords of the page, the heading, and the text. The
// index is built once from a library and is small enough (a few MB) to lie in memory.
//
// Words. Letters are compared in lower case and without diacritics, plurals as singulars.
// An identifier is found as a whole, however it is written (NOSQL_DRIVER, NoSqlDriver),
// and by its pieces (driver). Other forms of a word, such as validation for validate,
// count for less than the word. Texts without blanks, such as Chinese ones, are found by
// pairs of neighbouring characters. The last word of a query also stands for the words
// that begin with it, so that a reader can be shown results while typing.
//
// Ranking. Entries that hold all words of the query come before those that hold some;
// words such as "how" and "the" do not count beside others. Of one page, three entries
// come before those of other pages at most; the rest follow behind them all. Equal
// entries keep the authored order.
//
// A page whose title or keyword is the query comes first. Pages about the Java library
// come last, unless the query or the filter is about Java.
//
// Languages. A query with Chinese characters prefers pages in Chinese, and finds English
// ones too, through a short glossary. Any other query prefers English pages, and leaves
// out translations of them.
package search

import (
	"errors"
	"strings"

	"github.com/plinthgo/plinth/docs/internal/page"
)

// Bounds of a search.
const (
	MaxBytes     = 512 // of a query; the rest is not read
	MaxWords     = 32  // of a query; the rest is not read
	DefaultLimit = 20
	MaxLimit     = 100
)

// ErrEmpty says that a query has no word to search for.
var ErrEmpty = errors.New(`search: the query has no word: send one or more, such as "cache" or "graceful stop"`)

// A Query says what is searched, and where. Only Text is required.
type Query struct {
	Text   string // beyond MaxBytes or MaxWords it is not read
	Sector string // name of a sector; empty for all
	// of a page, such as /quick-start, with its translation, or of the pages below it;
	// empty for all
	Path   string
	Limit  int // of hits; 0 for DefaultLimit, at most MaxLimit
	Offset int // hits to skip
}

// A Result is one slice of what was found.
type Result struct {
	Total int   // hits without limit and offset
	Hits  []Hit // never nil
	// queries to try instead, the best first, when the documentation lacks a word; never
	// nil
	Suggestions []string
}

// A Hit is a section.
type Hit struct {
	Page    *page.Page
	Heading string // empty for what stands before the first heading
	Anchor  string // without the #; empty like the heading
	Excerpt string // plain text in one line, about 160 characters, with … where it is cut
	Score   float64
}

// Search returns the sections that fit a query best. A sector or path that does not exist
// has no hits. The only error is ErrEmpty.
func (ix *Index) Search(q Query) (Result, error) {
	words := ix.parse(q.Text)
	if len(words.units) == 0 {
		return Result{}, ErrEmpty
	}
	order := ix.rank(words, newFilter(q, words))
	result := Result{Total: len(order), Hits: []Hit{}, Suggestions: ix.suggestions(words)}
	limit := q.Limit
	if limit <= 0 {
		limit = DefaultLimit
	}
	from := min(max(q.Offset, 0), len(order))
	for _, found := range order[from:min(from+min(limit, MaxLimit), len(order))] {
		e := ix.entries[found.entry]
		result.Hits = append(result.Hits, Hit{
			Page: e.page, Heading: e.section.Heading, Anchor: e.section.Anchor,
			Excerpt: e.excerpt(words.marks), Score: found.score,
		})
	}
	return result, nil
}

// shorten cuts a query to its bound. A character that is cut in two is left out, as is
// all else that is no text.
func shorten(text string) string {
	return strings.ToValidUTF8(text[:min(len(text), MaxBytes)], " ")
}
