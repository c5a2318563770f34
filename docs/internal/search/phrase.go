package search

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Bonuses for adjacent words, as shares of their rarity.
const (
	phraseWeight     = 0.3
	phraseHeadWeight = 0.8 // in the heading, or the title of the page
	// maxPhrased is the number of entries, the best without phrases, that are searched
	// for phrases.
	maxPhrased = 64
	// maxApart is the largest distance of two adjacent words, which may have stop words
	// between them.
	maxApart = 3
)

// A phrase is a pair of adjacent words of a query, or a run of Chinese characters.
type phrase struct {
	first, next string  // roots; next is empty for Chinese characters
	apart       int     // largest distance in words
	rarity      float64 // of both
}

// addPhrases adds the phrases of adjacent words. Stop words may separate them.
func (q *query) addPhrases() {
	for i := 1; i < len(q.units); i++ {
		u, v := q.units[i-1], q.units[i]
		apart := 1 + len(groupsOf(tokens(q.text[u.end:v.start])))
		if u.first.kind == pair || v.first.kind == pair || apart > maxApart {
			continue
		}
		q.near = append(q.near,
			phrase{root(u.first.term), root(v.first.term), apart, (u.rarity() + v.rarity()) / 2})
	}
}

// addRuns adds the phrases of adjacent pairs.
func (q *query) addRuns(ix *Index, group []token) {
	for i := 1; i < len(group); i++ {
		x, y := ix.terms[group[i-1].term], ix.terms[group[i].term]
		if x != nil && y != nil {
			text := strings.ToLower(q.text[group[i-1].start:group[i].end])
			q.near = append(q.near, phrase{first: text, rarity: (x.rarity + y.rarity) / 2})
		}
	}
}

// rarity returns the rarity of the rarest term of the unit.
func (u *unit) rarity() float64 {
	most := 0.0
	for _, a := range slices.Concat(u.alternatives, u.expansions) {
		most = max(most, a.rarity)
	}
	return most
}

// root returns the common prefix of a word and its stem.
func root(term string) string {
	s, n := stem(term), 0
	for n < min(len(s), len(term)) && s[n] == term[n] {
		n++
	}
	return term[:n]
}

// addBonuses adds the bonuses for phrases to the best entries and sorts the entries
// again.
func (ix *Index) addBonuses(found []ranked, near []phrase) {
	for i := range found[:min(len(found), maxPhrased)] {
		r := &found[i]
		for _, p := range near {
			r.score += r.factor * p.rarity * p.bonus(ix.entries[r.entry])
		}
	}
	order(found)
}

func order(found []ranked) {
	slices.SortStableFunc(found, func(a, b ranked) int {
		if a.isJava != b.isJava {
			return map[bool]int{true: 1, false: -1}[a.isJava]
		}
		return cmp.Or(cmp.Compare(a.level, b.level), cmp.Compare(b.score, a.score))
	})
}

// bonus returns the bonus of an entry.
func (p phrase) bonus(e entry) float64 {
	switch {
	case p.in(e.head):
		return phraseHeadWeight
	case p.in(e.lower):
		return phraseWeight
	}
	return 0
}

// in reports whether a text in lower case contains the phrase.
func (p phrase) in(text string) bool {
	for {
		at := strings.Index(text, p.first)
		if at < 0 || p.next == "" {
			return at >= 0
		}
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		text = text[at+len(p.first):]
		if !isLetter(before) && p.follows(text) {
			return true
		}
	}
}

// follows reports whether the second word follows closely in a text that starts within
// the first word.
func (p phrase) follows(text string) bool {
	for range p.apart {
		text = text[wordEnd(text, 0):]
		at := strings.IndexFunc(text, isLetter)
		if at < 0 {
			return false
		}
		text = text[at:]
		if strings.HasPrefix(text, p.next) {
			return true
		}
	}
	return false
}
