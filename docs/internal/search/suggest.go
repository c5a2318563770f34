package search

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/plinthgo/plinth/docs/internal/page"
)

const (
	maxSuggestions = 3
	// maxCorrected is the number of unknown words to correct.
	maxCorrected = 3
	// minCorrected is the minimal length of words to correct.
	minCorrected = 3
)

// suggestions returns the query with similar words in place of the unknown ones. The
// first suggestion has the most similar word for each; the others differ in the first of
// these words.
func (ix *Index) suggestions(q query) []string {
	found := []string{}
	absent := q.absent[:min(len(q.absent), maxCorrected)]
	nearest := make([][]string, len(absent))
	for i, t := range absent {
		nearest[i] = ix.nearest(t.term)
	}
	first := slices.IndexFunc(nearest, func(words []string) bool { return len(words) > 0 })
	if first < 0 {
		return found
	}
	for _, alternative := range nearest[first] {
		text := q.text
		for i, t := range slices.Backward(absent) {
			switch {
			case i == first:
				text = text[:t.start] + alternative + text[t.end:]
			case len(nearest[i]) > 0:
				text = text[:t.start] + nearest[i][0] + text[t.end:]
			}
		}
		found = append(found, oneLine(text))
	}
	return found
}

// nearest returns the most similar words in their spelling in the documentation. It sorts
// by the number of changes, then by a common prefix, then by frequency.
func (ix *Index) nearest(word string) []string {
	if len(word) < minCorrected {
		return nil
	}
	limit := 1
	if len(word) > 4 {
		limit = 2
	}
	type similar struct {
		*term
		changes int
	}
	var all []similar
	has := letters(word)
	for _, t := range ix.sorted {
		// skip numbers
		if d := len(t.text) - len(word); d > limit || d < -limit || len(t.text) < minCorrected ||
			t.text[0] <= '9' {
			continue
		}
		if bits.OnesCount32(has^letters(t.text)) > 2*limit { // faster than the distance
			continue
		}
		if n := page.Distance(word, t.text); n <= limit {
			all = append(all, similar{t, n})
		}
	}
	prefixOrder := func(s similar) int {
		if s.text[:2] == word[:2] {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(all, func(a, b similar) int {
		return cmp.Or(a.changes-b.changes, prefixOrder(a)-prefixOrder(b),
			len(b.postings)-len(a.postings))
	})
	words := make([]string, 0, maxSuggestions)
	for _, t := range all[:min(len(all), maxSuggestions)] {
		words = append(words, t.display)
	}
	return words
}

// letters returns a set of bits for the letters of a word. A change of one letter changes
// at most two bits.
func letters(word string) uint32 {
	set := uint32(0)
	for _, r := range word {
		set |= 1 << (r & 31)
	}
	return set
}
