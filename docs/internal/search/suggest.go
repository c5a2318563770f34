package search

import (
	"cmp"
	"math/bits"
	"slices"
)

const (
	maxSuggestions = 3
	// maxCorrected bounds the words of a query for which others are looked for.
	maxCorrected = 3
	// minCorrected is the length of a word from which a similar one says something.
	minCorrected = 3
)

// suggestions returns the query with words that the documentation has in place of those that it lacks. The first has the
// nearest word for each; the others differ in the first of the words.
func (s *scratch) suggestions() []string {
	found := []string{}
	if len(s.absent) == 0 {
		return found
	}
	absent := s.absent[:min(len(s.absent), maxCorrected)]
	nearest := make([][]string, len(absent))
	first := -1
	for i, word := range absent {
		nearest[i] = s.ix.nearest(s.letters(word))
		if first < 0 && len(nearest[i]) > 0 {
			first = i
		}
	}
	if first < 0 {
		return found
	}
	for _, alternative := range nearest[first] {
		text := s.text
		for i, word := range slices.Backward(absent) {
			switch {
			case i == first:
				text = text[:word.start] + alternative + text[word.end:]
			case len(nearest[i]) > 0:
				text = text[:word.start] + nearest[i][0] + text[word.end:]
			}
		}
		found = append(found, oneLine(text))
	}
	return found
}

// letters is a word of the query as the index would have it, without connectors.
func (s *scratch) letters(word span) []byte {
	folded := s.tokens.fold(nil, s.text[word.start:word.end])
	folded = slices.DeleteFunc(folded, func(b byte) bool { return asciiClass(b) == connector })
	n, _ := singular(folded)
	return folded[:n]
}

// A similar is a term that may be meant by a word.
type similar struct {
	term     int
	changes  int
	begins   int // bytes at the beginning that are the same
	postings uint32
}

// nearest returns how the documentation writes the words that are most similar to one: those with the fewest changes, then
// those that begin alike, then the common ones.
func (ix *Index) nearest(word []byte) []string {
	if len(word) < minCorrected || len(word) > maxTerm {
		return nil
	}
	limit := 1
	if len(word) > 4 {
		limit = 2
	}
	var all []similar
	letters := lettersOf(string(word))
	for i, term := range ix.terms {
		if bits.OnesCount32(letters^ix.letters[i]) > 2*limit || !canBeMeant(term, word, limit) { // a change takes a letter and adds one
			continue
		}
		if n := changes(word, term, limit); n <= limit {
			all = append(all, similar{i, n, alike(word, term), ix.bounds[i+1] - ix.bounds[i]})
		}
	}
	slices.SortStableFunc(all, func(a, b similar) int {
		return cmp.Or(a.changes-b.changes, min(2, b.begins)-min(2, a.begins), cmp.Compare(b.postings, a.postings))
	})
	words := make([]string, 0, maxSuggestions)
	for _, t := range all[:min(len(all), maxSuggestions)] {
		words = append(words, ix.display[t.term])
	}
	return words
}

// canBeMeant tells whether a term is worth comparing: a number is no word, and too great a difference in length says enough.
func canBeMeant(term string, word []byte, limit int) bool {
	d := len(term) - len(word)
	return d <= limit && d >= -limit && len(term) >= minCorrected && asciiClass(term[0]) != digit
}

// lettersOf has a bit for each letter that a word has; digits and all other bytes share six.
func lettersOf(word string) uint32 {
	set := uint32(0)
	for i := range len(word) {
		if b := word[i] - 'a'; b < 26 {
			set |= 1 << b
		} else {
			set |= 1 << (26 + word[i]%6)
		}
	}
	return set
}

// alike is how many bytes at the beginning of two words are the same.
func alike(a []byte, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// changes is the number of bytes to insert, delete, replace or swap with the next to make one word the other (optimal string
// alignment); beyond the limit, any greater number. Words have at most maxTerm bytes.
func changes(a []byte, b string, limit int) int {
	var rows [3][maxTerm + 1]int
	before, last, row := &rows[0], &rows[1], &rows[2]
	for j := range len(b) + 1 {
		last[j] = j
	}
	for i := range a {
		row[0] = i + 1
		least := row[0]
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(last[j]+cost, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
			least = min(least, row[j+1])
		}
		if least > limit {
			return least
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
