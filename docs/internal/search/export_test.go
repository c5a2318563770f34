package search

// A Token is the exported form of a token.
type Token struct {
	Term       string
	Kind       string
	Start, End int
}

// Tokens returns the tokens of a text.
func Tokens(text string) []Token {
	names := map[kind]string{word: "word", piece: "piece", pair: "pair"}
	var all []Token
	for _, t := range tokens(text) {
		all = append(all, Token{t.term, names[t.kind], t.start, t.end})
	}
	return all
}

// Cut returns an excerpt of a text around the first word that starts at or after byte at.
func Cut(text string, at, window int) string {
	text = oneLine(text)
	place := 0
	for _, t := range tokens(text) {
		if place = t.start; place >= at {
			break
		}
	}
	return cut(text, place, max(window, 1))
}

// Size returns the number of entries and terms of the index, and its approximate size in
// bytes.
func (ix *Index) Size() (entries, terms, bytes int) {
	for _, e := range ix.entries {
		bytes += len(e.section.Text) + 128
	}
	for _, t := range ix.sorted {
		bytes += 2*len(t.text) + 160 + 16*cap(t.postings)
	}
	return len(ix.entries), len(ix.sorted), bytes
}

// Stem returns the stem of a word.
func Stem(word string) string { return stem(word) }
