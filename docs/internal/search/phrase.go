package search

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Bonuses for neighbours, as shares of their rarity.
const (
	phraseWeight     = 0.3
	phraseHeadWeight = 0.8 // in the heading, or the title of the page
	// maxPhrased bounds the entries that are looked at for phrases, the best without
	// them.
	maxPhrased = 64
	// maxApart is how far a word may be from the one before it, because of words that do
	// not count.
	maxApart = 3
)

// A phrase is what stands together in a query: two words, or characters without blanks.
type phrase struct {
	first, next string  // roots; next is empty for characters without blanks
	apart       int     // how far next may be from first, in words
	rarity      float64 // of both
}

// neighbours adds the phrases of words next to one another. Words that do not count may
// stand between them.
func (q *query) neighbours() {
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

// runs adds the phrases of pairs next to one another.
func (q *query) runs(ix *Index, group []token) {
	for i := 1; i < len(group); i++ {
		x, y := ix.terms[group[i-1].term], ix.terms[group[i].term]
		if x != nil && y != nil {
			text := strings.ToLower(q.text[group[i-1].start:group[i].end])
			q.near = append(q.near, phrase{first: text, rarity: (x.rarity + y.rarity) / 2})
		}
	}
}

// rarity is that of the rarest term by which the unit is found.
func (u *unit) rarity() float64 {
	most := 0.0
	for _, a := range slices.Concat(u.alternatives, u.expansions) {
		most = max(most, a.rarity)
	}
	return most
}

// root is what a word and the other forms of it begin with.
func root(term string) string {
	s, n := stem(term), 0
	for n < min(len(s), len(term)) && s[n] == term[n] {
		n++
	}
	return term[:n]
}

// reward raises the scores of the best entries by the phrases that they hold, and puts
// all in order again.
func (ix *Index) reward(found []ranked, near []phrase) {
	for i := range found[:min(len(found), maxPhrased)] {
		r := &found[i]
		for _, p := range near {
			r.score += r.factor * p.rarity * p.closeness(ix.entries[r.entry])
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

// closeness is the bonus for an entry.
func (p phrase) closeness(e entry) float64 {
	switch {
	case p.in(e.head):
		return phraseHeadWeight
	case p.in(e.lower):
		return phraseWeight
	}
	return 0
}

// in tells whether a text in small letters has the phrase.
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

// follows tells whether the second word is near enough in a text that begins in the first
// one.
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
