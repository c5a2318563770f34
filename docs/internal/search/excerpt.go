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

// A place is where an entry's text has a word of the query.
type place struct {
	at   int // byte
	mark int
}

// excerpt returns the part of an entry's text that has most of what the marks are, or the
// beginning of the text.
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

// best returns the place from which on a window has the most of the query. A mark counts
// once.
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

// isShort tells of a text that is shown whole.
func isShort(text string, window int) bool { return len(text) <= window+window/8 }

// cut returns about a window of bytes around a byte of a text at which a word begins,
// from word to word, with … where it is cut.
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

// boundary returns the byte at or before a byte at which a character begins.
func boundary(text string, at int) int {
	for at > 0 && at < len(text) && !utf8.RuneStart(text[at]) {
		at--
	}
	return at
}

// oneLine makes each run of blanks and line breaks one blank.
func oneLine(text string) string {
	return strings.Join(strings.Fields(strings.ToValidUTF8(text, "")), " ")
}
