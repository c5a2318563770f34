package search

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	excerptRunes = 160
	ellipsis     = "…"
)

// A place is a position in an entry's text at which a word of the query occurs.
type place struct {
	at   int // byte
	mark int
}

// excerpt returns the part of the entry's text that has the most marks, or the beginning
// of the text.
func (e entry) excerpt(marks []mark) string {
	text := e.section.Text
	window := excerptRunes * len(text) / max(1, utf8.RuneCountInString(text)) // in bytes
	if isShort(text, window) {
		return text
	}
	var places []place
	for i, m := range marks {
		for at, found := 0, 0; found >= 0; at += found + len(m.root) {
			if found = strings.Index(e.lower[at:], m.root); found >= 0 {
				places = append(places, place{at + found, i})
			}
		}
	}
	slices.SortFunc(places, func(a, b place) int { return cmp.Or(a.at-b.at, a.mark-b.mark) })
	return cut(text, best(places, marks, window), window)
}

// best returns the place at which the window with the largest weight of marks starts.
// Each mark counts once.
func best(places []place, marks []mark, window int) int {
	at, most := 0, 0.0
	for i, p := range places {
		sum, seen := 0.0, uint64(0) // a bit for each mark; beyond 64 some share one
		for _, q := range places[i:] {
			if q.at-p.at > window*2/3 {
				break
			}
			if bit := uint64(1) << (q.mark % 64); seen&bit == 0 {
				seen |= bit
				sum += marks[q.mark].weight
			}
		}
		if sum > most {
			at, most = p.at, sum
		}
	}
	return at
}

// isShort reports whether a text is shown as a whole.
func isShort(text string, window int) bool { return len(text) <= window+window/8 }

// cut returns about window bytes of text around byte at, which starts a word. It cuts
// between words and marks each cut with an ellipsis.
func cut(text string, at, window int) string {
	if isShort(text, window) {
		return text
	}
	from := max(0, min(at-window/4, len(text)-window))
	front, back := "", ""
	if from > 0 {
		front = ellipsis
		if i := strings.IndexByte(text[from-1:max(at, from)], ' '); i >= 0 {
			from += i
		}
	}
	to := len(text)
	if from+window+window/8 < len(text) {
		to, back = from+window, ellipsis
		if i := strings.LastIndexByte(text[to-window/4:to+1], ' '); i >= 0 {
			to += i - window/4
		}
	}
	return front + strings.TrimSpace(text[boundary(text, from):boundary(text, to)]) + back
}

// boundary returns the start of the character at a byte.
func boundary(text string, at int) int {
	for at > 0 && at < len(text) && !utf8.RuneStart(text[at]) {
		at--
	}
	return at
}

// oneLine replaces each run of white space by one space.
func oneLine(text string) string {
	return strings.Join(strings.Fields(strings.ToValidUTF8(text, "")), " ")
}
