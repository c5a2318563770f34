package search

import "slices"

// A unit is what counts as one word of a query: a word with its pieces, or a text without blanks with its pairs.
type unit struct {
	first, end int   // of its alternatives
	word       int32 // term that it is, if it is one, or -1
	pairs      bool
	expansions span // terms that begin with it, of the last word; terms that hold it, of a lone character
	length     int  // of what is expanded, in bytes
}

// A role says what an alternative stands for.
type role uint8

const (
	roleWhole       role = iota // the unit itself
	rolePiece                   // one of its pieces
	roleTranslation             // a word of its translation
)

// An alternative is a term by which a unit is found.
type alternative struct {
	term   int32 // number of the term
	role   role
	weight float32
	share  float32 // of the unit that an entry with the term holds
}

// An atom is a position of the query, for phrases.
type atom struct {
	position int
	term     int32 // -1 when the documentation lacks it
	pair     bool
	// expansions of the last word, for when the documentation lacks the word itself.
	expansions span
}

// Weights of alternatives beside the whole word.
const (
	componentWeight   = 0.5
	pieceWeight       = 0.3
	translationWeight = 1
	prefixWeight      = 0.6
)

// parse reads a query into units and atoms. It returns false when there is no word in it.
func (s *scratch) parse(text string) bool {
	s.text = shorten(text)
	s.units, s.alternatives, s.atoms, s.absent = s.units[:0], s.alternatives[:0], s.atoms[:0], s.absent[:0]
	s.expansions, s.queryTokens, s.dense = s.expansions[:0], s.queryTokens[:0], false
	s.name, s.java = s.name[:0], false
	s.roots, s.replacements = s.roots[:0], s.replacements[:0]
	s.tokens.read(s.text, 0)
	if len(s.queryTokens) == 0 {
		return false
	}
	groups := s.groups()
	s.synonymous(groups)
	for i, g := range groups {
		var beginning []byte
		if g.end == len(s.queryTokens) {
			beginning = s.tokens.joined
		}
		s.unit(i, s.queryTokens[g.start:g.end], beginning)
	}
	return true
}

// A queryToken is a token whose term has been looked up.
type queryToken struct {
	term       int32
	root       span // of its stem, among the roots of the query
	kind       kind
	stop       bool
	position   int
	start, end int
}

// overlaps tells whether the next token is the next pair of the same run.
func (q queryToken) overlaps(next queryToken) bool {
	return q.kind == ideograph && next.kind == ideograph && next.start < q.end
}

func (s *scratch) take(t token) {
	s.dense = s.dense || t.kind == ideograph
	s.java = s.java || javaWords[string(t.term)]
	s.name = appendName(s.name, t)
	stop := t.kind == plain && stopWords[string(t.term)] || t.kind == ideograph && stopPairs[string(t.term)]
	root := span{start: len(s.roots)}
	s.roots = append(s.roots, t.term...)
	root.end = root.start + len(stem(s.roots[root.start:]))
	s.queryTokens = append(s.queryTokens, queryToken{s.ix.term(t.term), root, t.kind, stop, t.position, t.start, t.end})
}

// groups splits the tokens into words and runs, without stop words when others are left, and without words that were there
// before.
func (s *scratch) groups() []span {
	s.spans = s.spans[:0]
	t := s.queryTokens
	for i := 0; i < len(t) && len(s.spans) < MaxWords; {
		j := i + 1
		for j < len(t) && (t[j].position == t[i].position || t[j-1].overlaps(t[j])) {
			j++
		}
		s.spans = append(s.spans, span{i, j})
		i = j
	}
	isStop := func(g span) bool {
		return !slices.ContainsFunc(t[g.start:g.end], func(q queryToken) bool { return !q.stop })
	}
	if slices.ContainsFunc(s.spans, func(g span) bool { return !isStop(g) }) {
		s.spans = slices.DeleteFunc(s.spans, isStop)
	}
	return s.spans
}

// unit adds the alternatives of a word or run. A word also stands for those with the beginning, if there is one.
func (s *scratch) unit(group int, tokens []queryToken, beginning []byte) {
	u := unit{first: len(s.alternatives), pairs: tokens[0].kind == ideograph, word: -1}
	if u.pairs {
		s.pairs(tokens)
	} else {
		s.pieces(tokens)
	}
	if len(tokens) == 1 && !u.pairs {
		if u.word = tokens[0].term; s.isRepeated(u) {
			s.alternatives = s.alternatives[:u.first]
			return
		}
		s.relatives(tokens[0])
		s.replace(group)
	}
	u.end = len(s.alternatives)
	if !u.pairs && beginning != nil {
		s.expand(&u, beginning, s.ix.beginning)
	} else if u.pairs && len(tokens) == 1 {
		s.expand(&u, composed(s.tokens.buffer[:0], s.text[tokens[0].start:tokens[0].end]), s.ix.holding)
	}
	if u.first == u.end && u.expansions.start == u.expansions.end && !u.pairs {
		s.absent = append(s.absent, span{tokens[0].start, tokens[0].end})
	}
	s.units = append(s.units, u)
	s.atom(tokens, u)
}

// isRepeated tells whether a unit of one word was there before.
func (s *scratch) isRepeated(u unit) bool {
	return slices.ContainsFunc(s.units, func(v unit) bool {
		return u.word >= 0 && v.word == u.word
	})
}

// pieces adds a word: as a whole, and by its components and parts.
func (s *scratch) pieces(tokens []queryToken) {
	n := 0
	for _, t := range tokens {
		if t.kind == component || t.kind == part {
			n++
		}
	}
	for _, t := range tokens {
		if t.term < 0 {
			continue
		}
		a := alternative{term: t.term, role: roleWhole, weight: 1, share: 1}
		switch t.kind {
		case component:
			a.role, a.weight, a.share = rolePiece, componentWeight, 1/float32(n)
		case part:
			a.role, a.weight, a.share = rolePiece, pieceWeight, 1/float32(n)
		default:
		}
		s.alternatives = append(s.alternatives, a)
	}
}

// pairs adds a run by those of its pairs that the documentation has, and by its translation. A pair that it lacks is most
// often the end of one word and the beginning of the next.
func (s *scratch) pairs(tokens []queryToken) {
	first := len(s.alternatives)
	for _, t := range tokens {
		if t.term >= 0 && !t.stop {
			s.alternatives = append(s.alternatives, alternative{term: t.term, role: rolePiece, weight: 1})
		}
	}
	s.divide(first)
	first = len(s.alternatives)
	s.translate(s.text[tokens[0].start:tokens[len(tokens)-1].end])
	s.divide(first)
}

// divide gives the alternatives from the first on equal shares.
func (s *scratch) divide(first int) {
	added := s.alternatives[first:]
	for i := range added {
		added[i].share = 1 / float32(len(added))
	}
}

// expand adds the terms that a list of the index gives for a text, but for those that are alternatives already.
func (s *scratch) expand(u *unit, text []byte, list func([]int32, []byte) []int32) {
	u.length, u.expansions.start = len(text), len(s.expansions)
	s.expansions = list(s.expansions, text)
	added := slices.DeleteFunc(s.expansions[u.expansions.start:], func(term int32) bool {
		return slices.ContainsFunc(s.alternatives[u.first:], func(a alternative) bool { return a.term == term })
	})
	u.expansions.end = u.expansions.start + len(added)
	s.expansions = s.expansions[:u.expansions.end]
}

// atom adds the positions of a unit, each with the term that stands for it in phrases.
func (s *scratch) atom(tokens []queryToken, u unit) {
	if u.pairs {
		for _, t := range tokens {
			s.atoms = append(s.atoms, atom{position: t.position, term: t.term, pair: true})
		}
		return
	}
	a := atom{position: tokens[0].position, term: -1, expansions: u.expansions}
	for _, t := range tokens { // the whole, else the last piece that is known
		if t.term >= 0 && (a.term < 0 || t.kind != part) {
			a.term = t.term
		}
	}
	s.atoms = append(s.atoms, a)
}
