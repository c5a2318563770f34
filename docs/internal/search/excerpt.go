package search

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	excerptRunes = 160
	// maxPlaces bounds how many places of one term are looked at.
	maxPlaces = 16
	// maxTerms is how many terms are told apart.
	maxTerms = 64
	ellipsis = "…"
)

// A place is where an entry's text has a word of the query.
type place struct {
	at     int // byte
	number int // of the term among those of the query
	weight float32
}

// excerpt returns the part of an entry's text that has most of the query, or the beginning of the text.
func (s *scratch) excerpt(number uint32) string {
	e := &s.ix.entries[number]
	if e.text == "" {
		return oneLine(e.page.Description)
	}
	s.places = s.places[:0]
	s.gatherPlaces(number, pieceWeight)
	if expansion := s.tallies[number].expansion; expansion >= 0 {
		s.place(number, expansion, maxTerms-1, prefixWeight)
	}
	if len(s.places) == 0 {
		s.gatherPlaces(number, 0)
	}
	if len(s.places) == 0 {
		return cut(e.text, e.starts, 0, e.window)
	}
	slices.SortFunc(s.places, func(a, b place) int { return a.at - b.at })
	return cut(e.text, e.starts, s.best(e.window), e.window)
}

// gatherPlaces adds the places of all alternatives that weigh more than least.
func (s *scratch) gatherPlaces(number uint32, least float32) {
	for i, a := range s.alternatives[:min(len(s.alternatives), maxTerms-1)] {
		if a.weight > least {
			s.place(number, a.term, i, a.weight)
		}
	}
}

// place adds the places of a term.
func (s *scratch) place(number uint32, term int32, id int, weight float32) {
	e := &s.ix.entries[number]
	positions := s.ix.positionsIn(term, number)
	first, _ := slices.BinarySearch(positions, e.textBase)
	positions = positions[first:]
	for _, p := range positions[:min(len(positions), maxPlaces)] {
		s.places = append(s.places, place{int(e.starts[p-e.textBase]), id, s.ix.idf[term] * weight})
	}
}

// best returns the place from which on a window has the most of the query. A word counts once.
func (s *scratch) best(window int) int {
	at, most := 0, float32(0)
	for i, p := range s.places {
		seen, sum := uint64(0), float32(0)
		for _, q := range s.places[i:] {
			if q.at-p.at > window*2/3 {
				break
			}
			if bit := uint64(1) << q.number; seen&bit == 0 {
				seen |= bit
				sum += q.weight
			}
		}
		if sum > most {
			at, most = p.at, sum
		}
	}
	return at
}

// cut returns about a window of bytes around a word of a text, from word to word, with … where it is cut. Starts are the
// bytes at which words begin; at is one of them, or 0.
func cut(text string, starts []uint32, at, window int) string {
	if len(text) <= window+window/8 {
		return text
	}
	from := max(0, min(at-window/4, len(text)-window))
	if from > 0 {
		from = wordFrom(text, starts, from, at)
	}
	to, front, back := len(text), "", ""
	if from+window+window/8 < len(text) {
		to, back = wordBefore(text, starts, from, from+window), ellipsis
	}
	if from > 0 {
		front = ellipsis
	}
	return front + strings.TrimSpace(text[from:to]) + back
}

// wordFrom returns the first beginning of a word from a byte on, but none after at.
func wordFrom(text string, starts []uint32, from, at int) int {
	if from > at { // the end of the text is near: its last words are as good
		at = len(text)
	}
	if text[from-1] == ' ' {
		return from
	}
	if i := strings.IndexByte(text[from:at], ' '); i >= 0 {
		return from + i + 1
	}
	if i, _ := slices.BinarySearch(starts, uint32(from)); i < len(starts) && int(starts[i]) <= at { // not negative
		return int(starts[i])
	}
	return boundary(text, from)
}

// wordBefore returns the last end of a word up to a byte, and none in the first half of the window.
func wordBefore(text string, starts []uint32, from, to int) int {
	half := from + (to-from)/2
	if text[to] == ' ' {
		return to
	}
	if i := strings.LastIndexByte(text[half:to], ' '); i >= 0 && to-half-i < (to-from)/4 {
		return half + i
	}
	i, _ := slices.BinarySearch(starts, uint32(to)+1) // not negative
	if i > 0 && int(starts[i-1]) > half {
		return int(starts[i-1])
	}
	return max(from, boundary(text, to))
}

// boundary returns the byte at or before a byte at which a character begins that is not a mark on the one before.
func boundary(text string, at int) int {
	for at > 0 && at < len(text) {
		if utf8.RuneStart(text[at]) {
			if r, _ := utf8.DecodeRuneInString(text[at:]); !unicode.Is(unicode.Mn, r) {
				return at
			}
		}
		at--
	}
	return at
}
