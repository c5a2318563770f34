package search

import (
	_ "embed"
	"strings"
)

//go:embed synonyms.txt
var synonymsText string

// maxSynonym is how many words of a query a synonym may stand for.
const maxSynonym = 3

// synonymWeight is what a synonym counts for beside the word itself, for all the words that it stands for together.
const synonymWeight = 0.7

// Synonyms give the words that the documentation uses for those that readers may know instead. Keys are stems with a blank
// between them.
type synonyms map[string][]string

// newSynonyms reads lines such as "distributed lock: lease"; # begins a comment.
func newSynonyms(text string) synonyms {
	all := synonyms{}
	var folded []string
	t := tokenizer{emit: func(t token) { folded = append(folded, string(t.term)) }}
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		words, others, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		folded = folded[:0]
		t.read(words, 0)
		for i, word := range folded {
			folded[i] = string(stem([]byte(word)))
		}
		key := strings.Join(folded, " ")
		folded = folded[:0]
		t.read(others, 0)
		all[key] = append(all[key], folded...)
	}
	return all
}

// synonymous adds to the units what the documentation says instead of them.
func (s *scratch) synonymous(groups []span) {
	for i := range groups {
		s.key = s.key[:0]
		for n := range min(maxSynonym, len(groups)-i) {
			g := groups[i+n]
			t := s.queryTokens[g.start]
			if t.kind != plain || g.end != g.start+1 {
				break
			}
			if n > 0 {
				s.key = append(s.key, ' ')
			}
			s.key = append(s.key, s.roots[t.root.start:t.root.end]...)
			for _, word := range s.ix.synonyms[string(s.key)] {
				if term := s.ix.term([]byte(word)); term >= 0 {
					s.replacements = append(s.replacements, replacement{term, i, i + n})
				}
			}
		}
	}
}

// A replacement is a term that stands for some groups of the query.
type replacement struct {
	term        int32
	first, last int
}

// replace adds the replacements of a group.
func (s *scratch) replace(group int) {
	for _, r := range s.replacements {
		if group < r.first || group > r.last {
			continue
		}
		s.alternatives = append(s.alternatives, alternative{
			term: r.term, role: roleTranslation, weight: synonymWeight / float32(r.last-r.first+1), share: 1,
		})
	}
}
