package search

// Bonuses for neighbours, as shares of their rarity.
const (
	phraseWeight     = 0.3
	phraseHeadWeight = 1.2 // in the title or the heading
	// maxExpandedPhrases bounds the expansions of the last word that are looked at for phrases.
	maxExpandedPhrases = 16
	// maxSkipped is how many words that do not count may stand between two that do.
	maxSkipped = 3
)

// phrases rewards entries in which words stand next to one another as in the query.
func (s *scratch) phrases() {
	for i := 1; i < len(s.atoms); i++ {
		before, a := s.atoms[i-1], s.atoms[i]
		distance := a.position - before.position
		if before.term < 0 || distance > maxSkipped {
			continue
		}
		if a.term >= 0 {
			least := 0 // two pieces of one word are neighbours too
			if a.pair {
				least = distance
			}
			s.neighbours(before.term, a.term, least, distance)
			continue
		}
		terms := s.expansions[a.expansions.start:a.expansions.end]
		for _, term := range terms[:min(len(terms), maxExpandedPhrases)] {
			s.neighbours(before.term, term, 0, distance)
		}
	}
}

// neighbours rewards the entries in which y follows x, from so many positions on up to so many.
func (s *scratch) neighbours(x, y int32, least, most int) {
	if x == y {
		return
	}
	rarity := (s.ix.idf[x] + s.ix.idf[y]) / 2
	p, q := s.ix.bounds[x], s.ix.bounds[y]
	for p < s.ix.bounds[x+1] && q < s.ix.bounds[y+1] {
		e, f := s.ix.postings[p].entry, s.ix.postings[q].entry
		if e < f {
			p++
			continue
		}
		if e > f {
			q++
			continue
		}
		s.tallies[e].total += rarity * s.ix.entries[e].closeness(s.ix.positionsAt(p), s.ix.positionsAt(q), least, most)
		p++
		q++
	}
}

// closeness is the bonus for the first place at which a position of y follows one of x, which is the best: title and heading
// stand before the text. Words may stand where the query has some that do not count.
func (e *entry) closeness(x, y []uint32, least, most int) float32 {
	for i, j := 0, 0; i < len(x) && j < len(y); {
		apart := int(y[j]) - int(x[i])
		if apart < least {
			j++
			continue
		}
		if apart > most {
			i++
			continue
		}
		if x[i] < e.headEnd {
			return phraseHeadWeight
		}
		return phraseWeight
	}
	return 0
}
