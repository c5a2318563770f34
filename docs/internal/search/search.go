// Package search finds sections of the documentation, in English and in Chinese.
//
// An entry of the index is a section of a page: a heading and the text up to the next
// heading. Scores are computed with BM25F, that is BM25 over several fields: title, path,
// description and keywords of the page, heading and text. New builds the index once, in
// memory (a few MB).
//
// Words: letters match regardless of case and diacritics, plurals match singulars. An
// identifier matches in any spelling (NOSQL_DRIVER, NoSqlDriver) and by its parts
// (driver). Other forms of a word, such as validation for validate, have a lower weight.
// Chinese text is indexed by pairs of adjacent characters. The last word of a query also
// matches as a prefix, for search while typing.
//
// Ranking: a page whose title or keyword is the query comes first. Then come titles with
// all words of the query, headings with all words, and other matches; each group is
// sorted by score. Stop words such as "how" are ignored if there are other words. At most
// three entries of a page precede the other pages; its remaining entries follow at the
// end. Entries with equal scores keep the authored order. Pages about the Java library
// come last, unless the query is about Java or the sector is selected.
//
// Languages: a query with Chinese characters prefers Chinese pages and also finds English
// ones with a short glossary. Any other query prefers English pages and ignores their
// translations.
package search

import (
	"errors"
	"strings"

	"github.com/plinthgo/plinth/docs/internal/page"
)

// Limits of a search.
const (
	MaxBytes     = 512 // of a query; the rest is ignored
	MaxWords     = 32  // of a query; the rest is ignored
	DefaultLimit = 20
	MaxLimit     = 100
)

// ErrEmpty reports a query without a word.
var ErrEmpty = errors.New(`search: the query has no word: send at least one, such as "cache" or "graceful shutdown"`)

// A Query describes a search. Only Text is required.
type Query struct {
	Text   string // text beyond MaxBytes or MaxWords is ignored
	Sector string // name of the sector; empty for all
	// path of a page, such as /quick-start, or of a directory of pages; empty for all. A
	// page includes its translation.
	Path   string
	Limit  int // number of hits; 0 means DefaultLimit, the maximum is MaxLimit
	Offset int // number of hits to skip
}

// A Result is a page of hits.
type Result struct {
	Total int   // number of hits without limit and offset
	Hits  []Hit // never nil
	// alternative queries, best first, if a word is unknown; never nil
	Suggestions []string
}

// A Hit is a matching section.
type Hit struct {
	Page    *page.Page
	Heading string // empty for the text before the first heading
	Anchor  string // without the number sign; empty if Heading is empty
	Excerpt string // plain text in one line of about 160 characters; … marks each cut
	Score   float64
}

// Search returns the sections that match a query, best first. An unknown sector or path
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

// shorten truncates a query to MaxBytes and replaces invalid UTF-8 by spaces.
func shorten(text string) string {
	return strings.ToValidUTF8(text[:min(len(text), MaxBytes)], " ")
}
