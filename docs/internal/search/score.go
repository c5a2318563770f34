package search

import "math"

// A scratch is what one search works on. It is used again by the next one.
type scratch struct {
	ix     *Index
	tokens tokenizer

	text         string
	dense        bool   // whether the query has characters of a script without blanks
	java         bool   // whether the query is about Java
	name         []byte // the query in the form of the names of the index
	queryTokens  []queryToken
	spans        []span
	units        []unit
	alternatives []alternative
	expansions   []int32
	atoms        []atom
	absent       []span        // words of the query that the documentation lacks
	roots        []byte        // stems of its words
	replacements []replacement // words of synonyms
	key          []byte        // of a synonym
	kin          []int32       // terms with the stem of a word

	tallies []tally // one an entry
	keys    []key
	behind  []key
	ofPage  []uint8 // hits of each page so far
	places  []place
}

// A tally is what an entry has gathered.
type tally struct {
	total     float32
	held      float32 // units that it holds, pieces of a unit counted as shares
	expansion int32   // term for which the last word stands here, or -1

	// of the present unit
	unit       float32
	whole      float32 // share of the unit that it holds, by each of the three ways
	pieces     float32
	translated float32
}

func newScratch(ix *Index) *scratch {
	pages := 0
	if n := len(ix.entries); n > 0 {
		pages = ix.entries[n-1].number + 1
	}
	s := &scratch{ix: ix, tallies: make([]tally, len(ix.entries)), ofPage: make([]uint8, pages)}
	s.tokens.emit = s.take
	return s
}

// score fills the tallies.
func (s *scratch) score() {
	clear(s.tallies)
	for i := range s.tallies {
		s.tallies[i].expansion = -1
	}
	for _, u := range s.units {
		s.scoreUnit(u)
	}
	s.phrases()
}

func (s *scratch) scoreUnit(u unit) {
	for _, a := range s.alternatives[u.first:u.end] {
		rarity := s.ix.idf[a.term] * a.weight
		for _, p := range s.ix.postingsOf(a.term) {
			t := &s.tallies[p.entry]
			t.unit += rarity * p.frequency
			switch a.role {
			case roleWhole:
				t.whole = max(t.whole, a.share)
			case rolePiece:
				t.pieces += a.share
			case roleTranslation:
				t.translated += a.share
			}
		}
	}
	s.scoreExpansions(u)
	s.gather()
}

// gather moves what entries have of the present unit to their totals.
func (s *scratch) gather() {
	for i := range s.tallies {
		t := &s.tallies[i]
		if t.unit > 0 {
			t.total += t.unit
			t.held += min(1, max(t.whole, t.pieces, t.translated))
			t.unit, t.whole, t.pieces, t.translated = 0, 0, 0, 0
		}
	}
}

// expandedShare is how much of a unit an entry holds by an expansion, when there are entries with the word itself.
const expandedShare = 0.8

// scoreExpansions gives each entry the best of a unit's expansions. All of them are as rare as they are together: a long rare
// word must not win because it begins like a common one.
func (s *scratch) scoreExpansions(u unit) {
	terms := s.expansions[u.expansions.start:u.expansions.end]
	if len(terms) == 0 {
		return
	}
	n := 0
	for _, term := range terms {
		n += len(s.ix.postingsOf(term))
	}
	rarity := s.ix.rarity(n, s.ix.entriesLike(s.ix.terms[terms[0]])) * prefixWeight
	share := float32(1)
	if u.first < u.end {
		share = expandedShare
	}
	for _, term := range terms {
		likeness := rarity * float32(math.Sqrt(float64(u.length)/float64(len(s.ix.terms[term]))))
		for _, p := range s.ix.postingsOf(term) {
			t := &s.tallies[p.entry]
			if score := likeness * p.frequency; score > t.unit {
				t.unit, t.expansion = score, term
			}
			t.whole = max(t.whole, share)
		}
	}
}
