package search

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// A kind is the relation of a token to the word in the text.
type kind uint8

const (
	word  kind = iota // whole word: nosqldriver for NOSQL_DRIVER
	piece             // part between dots, underscores, hyphens or changes of case: driver
	pair              // two adjacent Chinese characters, or a single one
)

// A token is a term at a position of a text. All tokens of a word have the position of
// the word.
type token struct {
	term  string // normalized
	kind  kind
	start int // byte offset of the word
	end   int
}

// maxTerm is the maximal length of a term in bytes. It keeps long data, such as base64,
// out of the index.
const maxTerm = 64

// tokens returns the tokens of a text.
func tokens(text string) []token {
	list := make([]token, 0, len(text)/4)
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRuneInString(text[at:])
		switch {
		case isDense(r):
			end := at + span(text[at:],
				func(r rune) bool { return isDense(r) || unicode.Is(unicode.Mn, r) })
			list = appendPairs(list, text, at, end)
			at = end
		case isLetter(r) && !unicode.Is(unicode.Mn, r):
			end := wordEnd(text, at)
			list = appendWord(list, text[at:end], at)
			at = end
		default:
			at += size
		}
	}
	return list
}

// span returns the length in bytes of the prefix whose characters satisfy is.
func span(text string, is func(rune) bool) int {
	return len(text) - len(strings.TrimLeftFunc(text, is))
}

// wordEnd returns the end of the word that starts at a byte. A word may contain
// connectors and apostrophes between letters.
func wordEnd(text string, at int) int {
	for {
		at += span(text[at:], isLetter)
		joint, size := utf8.DecodeRuneInString(text[at:])
		next, _ := utf8.DecodeRuneInString(text[at+size:])
		if !isConnector(joint) && joint != '\'' && joint != '’' || !isLetter(next) {
			return at
		}
		at += size
	}
}

// appendWord appends a word as a whole, its components, and their parts. It skips parts
// of one letter.
func appendWord(list []token, written string, start int) []token {
	add := func(term string, k kind) {
		if term = clip(singular(term)); term != "" &&
			(k == word || utf8.RuneCountInString(term) > 1) {
			list = append(list, token{term, k, start, start + len(written)})
		}
	}
	if !strings.ContainsFunc(written, unicode.IsLetter) { // number, date or version
		add(written, word)
		return list
	}
	components := []string{written}
	if strings.ContainsFunc(written, isConnector) {
		components = strings.FieldsFunc(written, isConnector)
	}
	var joined strings.Builder
	for _, component := range components {
		folded := fold(component)
		joined.WriteString(folded)
		if len(components) == 1 {
			add(folded, word)
		} else {
			add(folded, piece)
		}
		parts := camel(component)
		for _, part := range parts {
			add(fold(part), piece)
		}
		if parts == nil {
			add(subject(folded), piece)
		}
	}
	if len(components) > 1 {
		add(joined.String(), word)
	}
	return list
}

// appendPairs appends the pairs of a run of Chinese characters.
func appendPairs(list []token, text string, start, end int) []token {
	var starts []int // of characters; a combining mark belongs to the character before it
	for i, r := range text[start:end] {
		if isDense(r) {
			starts = append(starts, start+i)
		}
	}
	starts = append(starts, end)
	for i := range max(1, len(starts)-2) {
		from, to := starts[i], starts[min(i+2, len(starts)-1)]
		list = append(list, token{norm.NFKC.String(text[from:to]), pair, from, to})
	}
	return list
}

// fold normalizes a word: lower case, without diacritics and apostrophes.
func fold(written string) string {
	written = strings.TrimSuffix(strings.TrimSuffix(written, "'s"), "’s") // River's
	return strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, norm.NFKD.String(written))
}

// singular returns the singular of a plural, like Harman's S-stemmer. Index and query use
// it alike, so a wrong singular does no harm. Words of up to three letters, such as TLS,
// stay, except ids.
func singular(term string) string {
	if term == "ids" {
		return "id"
	}
	stem, isPlural := strings.CutSuffix(term, "s")
	if !isPlural || len(stem) < 3 {
		return term
	}
	if last := stem[len(stem)-1]; last >= utf8.RuneSelf || strings.IndexByte("uis", last) >= 0 {
		return term
	}
	if base, ok := strings.CutSuffix(stem, "ie"); ok && len(base) > 1 &&
		strings.IndexByte("ea", base[len(base)-1]) < 0 {
		return base + "y"
	}
	return stem
}

// clip truncates a term to maxTerm bytes, between characters.
func clip(term string) string {
	if len(term) <= maxTerm {
		return term
	}
	return strings.ToValidUTF8(term[:maxTerm], "")
}

// camel splits a component at changes of case: before an upper-case letter after a
// lower-case letter or digit, and before the last of several upper-case letters
// (HTTP|Server). The plural of an acronym (IDs) is one part. It returns nil if there is
// only one part.
func camel(component string) []string {
	var parts []string
	begin := 0
	var before, beforeThat rune
	last := 0 // start of the previous character
	for at, r := range component {
		switch {
		case unicode.IsUpper(r) && before != 0 && !unicode.IsUpper(before):
			parts, begin = append(parts, component[begin:at]), at
		case unicode.IsLower(r) && unicode.IsUpper(before) && unicode.IsUpper(beforeThat) &&
			component[at:] != "s":
			parts, begin = append(parts, component[begin:last]), last
		}
		before, beforeThat, last = r, before, at
	}
	if parts == nil {
		return nil
	}
	return append(parts, component[begin:])
}

// subject returns the subject of a package name, such as db for xdb and cron for cronx,
// or "". English words with a final x have a vowel before it.
func subject(folded string) string {
	last := len(folded) - 1
	switch {
	case last > 1 && folded[0] == 'x' && folded[1] >= 'a' && folded[1] <= 'z':
		return folded[1:]
	case last > 3 && folded[last] == 'x' && strings.IndexByte("aeiou", folded[last-1]) < 0:
		return folded[:last]
	}
	return ""
}

func isConnector(r rune) bool { return r == '_' || r == '-' || r == '.' }

// isLetter reports whether r is part of a word in scripts with spaces.
func isLetter(r rune) bool {
	return !isDense(r) && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r))
}

// prolonged is the Katakana sound mark, which belongs to no script in Unicode.
const prolonged = 'ー'

// isDense reports whether r belongs to a script without spaces.
func isDense(r rune) bool {
	return r >= 0x1100 && (r == prolonged ||
		unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul))
}
