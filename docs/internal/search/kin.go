package search

// Weights of the words that have the stem of one of the query, such as validation for validate.
const (
	kinWeight = 0.6
	kinShare  = 1
)

// A kinship gives the terms that have a stem.
type kinship struct {
	first map[string]int32
	next  []int32 // the term after each that has the same stem, or -1
}

func newKinship(terms []string) kinship {
	k := kinship{first: make(map[string]int32, len(terms)), next: make([]int32, len(terms))}
	var buffer []byte
	for i, term := range terms {
		k.next[i] = -1
		buffer = append(buffer[:0], term...)
		root := stem(buffer)
		if !isSmall(root) {
			continue
		}
		if first, ok := k.first[string(root)]; ok {
			k.next[i] = first
		}
		key := term[:len(root)] // which spares a copy, but for a y that became an i
		if key != string(root) {
			key = string(root)
		}
		k.first[key] = int32(i)
	}
	return k
}

// of appends the terms with a stem.
func (k kinship) of(dst []int32, root []byte) []int32 {
	term, ok := k.first[string(root)]
	for ; ok && term >= 0; term = k.next[term] {
		dst = append(dst, term)
	}
	return dst
}

// relatives adds the terms that have the stem of a word. Each is as rare as all of them are together: validated says no more than
// validation because fewer pages have it.
func (s *scratch) relatives(t queryToken) {
	s.kin = s.ix.kin.of(s.kin[:0], s.roots[t.root.start:t.root.end])
	n := 0
	for _, term := range s.kin {
		n += len(s.ix.postingsOf(term))
	}
	for _, term := range s.kin {
		if term == t.term {
			continue
		}
		rarity := min(1, s.ix.rarity(n, len(s.ix.entries))/s.ix.idf[term])
		s.alternatives = append(s.alternatives, alternative{
			term: term, role: roleWhole, weight: kinWeight * rarity, share: kinShare,
		})
	}
}
