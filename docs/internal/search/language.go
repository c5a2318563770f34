package search

import (
	_ "embed"
	"strings"
	"unicode/utf8"
)

// stopWords do not count beside other words of a query. They are folded as the index folds words.
var stopWords = set(`a about am an and are as at be been being but by can could did do doe for from get had has have how i if in
	into is it its may me my of on or our own please shall should so some than that the their them then there these they this to us
	use using was we were what when where whether which who why will with would you your`)

// stopPairs are the same in Chinese.
var stopPairs = set("如何 怎么 怎样 什么 是什 么是 为什 么用 哪些 可以 是否 怎麼 什麼 請問 请问 一个 一下")

func set(words string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		m[w] = true
	}
	return m
}

//go:embed glossary.txt
var glossaryText string

// A glossary gives the English words for a Chinese one, so that a page which is not translated is found all the same.
type glossary struct {
	words   map[string][]string
	longest int // in characters
}

// newGlossary reads lines such as "迁移: migration"; # begins a comment.
func newGlossary(text string) glossary {
	g := glossary{words: map[string][]string{}}
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		word, english, ok := strings.Cut(line, ":")
		if word = strings.TrimSpace(word); !ok || word == "" {
			continue
		}
		g.words[word] = strings.Fields(english)
		g.longest = max(g.longest, utf8.RuneCountInString(word))
	}
	return g
}

// translate adds the English words for a run, the longest Chinese words first.
func (s *scratch) translate(run string) {
	for at := 0; at < len(run); {
		word, size := s.ix.glossary.longestAt(run[at:])
		for _, english := range word {
			n, y := singular([]byte(english))
			folded := english[:n]
			if y {
				folded += "y"
			}
			if term := s.ix.term([]byte(folded)); term >= 0 {
				s.alternatives = append(s.alternatives, alternative{term: term, role: roleTranslation, weight: translationWeight})
			}
		}
		at += size
	}
}

// longestAt returns the translation of the longest word that a text begins with, and its length in bytes, or that of the
// first character.
func (g glossary) longestAt(text string) ([]string, int) {
	end, found, size := 0, []string(nil), 0
	for range g.longest {
		if end == len(text) {
			break
		}
		_, n := utf8.DecodeRuneInString(text[end:])
		end += n
		if size == 0 {
			size = n
		}
		if words, ok := g.words[text[:end]]; ok {
			found, size = words, end
		}
	}
	return found, size
}
