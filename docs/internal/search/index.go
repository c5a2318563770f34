package search

import (
	"slices"
	"strings"
	"sync"

	"github.com/plinthgo/plinth/docs/internal/page"
)

// An Index is the searchable form of a library. It never changes after New and may be searched by several goroutines at once.
type Index struct {
	entries []entry
	chinese int      // how many of them are
	terms   []string // in byte order, so that those with a prefix are neighbours
	display []string // how the documentation writes a term, for suggestions
	letters []uint32 // that a term has
	idf     []float32
	kin     kinship
	bounds  []uint32 // the postings of term i are postings[bounds[i]:bounds[i+1]]

	postings  []posting
	positions []uint32

	named    map[string][]uint32 // entries by the title and the keywords of their page
	glossary glossary            // of Chinese words
	synonyms synonyms
	scratch  sync.Pool // of *scratch
}

// An entry is one section of a page.
type entry struct {
	page     *page.Page
	number   int // of the page
	heading  string
	anchor   string
	text     string   // in one line
	starts   []uint32 // byte of text at which the word of each of its positions begins
	window   int      // bytes of text that make an excerpt
	headEnd  uint32   // positions below it are those of title and heading
	textBase uint32   // position of the first word of the text
}

// A posting says that an entry has a term.
type posting struct {
	entry     uint32
	first     uint32  // of its positions; they end where those of the next posting begin
	frequency float32 // over all fields, weighted, and saturated as BM25 asks, without the inverse document frequency
}

// term returns the number of a term, or -1.
func (ix *Index) term(t []byte) int32 {
	i, found := slices.BinarySearchFunc(ix.terms, t, compareTerm)
	if !found {
		return -1
	}
	return int32(i) // there are no 2^31 words
}

func compareTerm(a string, b []byte) int {
	switch s := string(b); { // does not allocate: the string does not outlive the comparison
	case a < s:
		return -1
	case a > s:
		return 1
	}
	return 0
}

// beginning appends the terms that begin with a prefix.
func (ix *Index) beginning(dst []int32, prefix []byte) []int32 {
	from, _ := slices.BinarySearchFunc(ix.terms, prefix, compareTerm)
	for i := from; i < len(ix.terms) && len(ix.terms[i]) >= len(prefix) && ix.terms[i][:len(prefix)] == string(prefix); i++ {
		dst = append(dst, int32(i)) // there are no 2^31 words
	}
	return dst
}

// firstDense sorts before all terms of scripts without blanks.
var firstDense = []byte{0xe1, 0x84, 0x80} // U+1100, the first of Hangul

// holding appends the terms of scripts without blanks in which a character stands.
func (ix *Index) holding(dst []int32, character []byte) []int32 {
	from, _ := slices.BinarySearchFunc(ix.terms, firstDense, compareTerm)
	for i := from; i < len(ix.terms); i++ {
		if strings.Contains(ix.terms[i], string(character)) {
			dst = append(dst, int32(i)) // there are no 2^31 words
		}
	}
	return dst
}

func (ix *Index) postingsOf(term int32) []posting {
	return ix.postings[ix.bounds[term]:ix.bounds[term+1]]
}

// positionsAt returns where an entry has a term, in order. The posting is given by its number.
func (ix *Index) positionsAt(number uint32) []uint32 {
	end := uint32(len(ix.positions)) // there are no 2^32 words
	if int(number)+1 < len(ix.postings) {
		end = ix.postings[number+1].first
	}
	return ix.positions[ix.postings[number].first:end]
}

// positionsIn returns where an entry has a term, or nothing.
func (ix *Index) positionsIn(term int32, entry uint32) []uint32 {
	i, found := slices.BinarySearchFunc(ix.postingsOf(term), entry, func(p posting, e uint32) int { return int(p.entry) - int(e) })
	if !found {
		return nil
	}
	return ix.positionsAt(ix.bounds[term] + uint32(i)) // there are no 2^32 postings
}
