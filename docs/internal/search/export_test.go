package search

// A Token is what the tests see of a token.
type Token struct {
	Term       string
	Kind       string
	Position   int
	Start, End int
}

// Tokens reads a text.
func Tokens(text string) []Token {
	names := map[kind]string{plain: "plain", whole: "whole", component: "component", part: "part", ideograph: "ideograph"}
	var all []Token
	t := tokenizer{emit: func(t token) {
		all = append(all, Token{string(t.term), names[t.kind], t.position, t.start, t.end})
	}}
	t.read(text, 0)
	return all
}

// Cut makes an excerpt of a text around a byte at which a word begins, or the next one that follows.
func Cut(text string, at, window int) string {
	text = oneLine(text)
	starts := []uint32{}
	for _, t := range Tokens(text) {
		if len(starts) == 0 || starts[len(starts)-1] < uint32(t.Start) {
			starts = append(starts, uint32(t.Start))
		}
	}
	place := 0
	for _, s := range starts {
		if place = int(s); place >= at {
			break
		}
	}
	return cut(text, starts, place, max(window, 1))
}

// Size is the number of entries, terms and bytes of an index, about.
func (ix *Index) Size() (entries, terms, bytes int) {
	bytes = 12*len(ix.postings) + 4*len(ix.positions) + 44*len(ix.terms)
	for _, e := range ix.entries {
		bytes += len(e.text) + 4*len(e.starts) + 128
	}
	for _, t := range ix.terms {
		bytes += len(t)
	}
	return len(ix.entries), len(ix.terms), bytes
}

// Stem is the stem of a word.
func Stem(word string) string { return string(stem([]byte(word))) }

// UnknownSynonyms lists what synonyms stand for that the documentation lacks.
func (ix *Index) UnknownSynonyms() []string {
	var unknown []string
	for key, words := range ix.synonyms {
		for _, word := range words {
			if ix.term([]byte(word)) < 0 {
				unknown = append(unknown, key+": "+word)
			}
		}
	}
	return unknown
}
