package search

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// A kind says what a token is of the word that it was read from.
type kind uint8

const (
	word  kind = iota // the whole word: nosqldriver of NOSQL_DRIVER
	piece             // a piece of it between dots, underscores, hyphens or changes of case: driver
	pair              // two neighbours in a text without blanks, or one that stands alone
)

// A token is what the index knows a word by. All tokens of a word lie at the same place.
type token struct {
	term  string // folded
	kind  kind
	start int // of the word in the text, in bytes
	end   int
}

// maxTerm bounds a token in bytes, so that a long piece of base64 does not fill the
// index.
const maxTerm = 64

// tokens reads a text.
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

// span is how many bytes at the beginning of a text hold such characters only.
func span(text string, is func(rune) bool) int {
	return len(text) - len(strings.TrimLeftFunc(text, is))
}

// wordEnd returns where the word that begins there ends. It may hold connectors and
// apostrophes between letters.
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

// appendWord appends a word: as a whole, its components, and their parts. A lone letter
// says nothing about the identifier that it is a piece of.
func appendWord(list []token, written string, start int) []token {
	add := func(term string, k kind) {
		if term = clip(singular(term)); term != "" &&
			(k == word || utf8.RuneCountInString(term) > 1) {
			list = append(list, token{term, k, start, start + len(written)})
		}
	}
	if !strings.ContainsFunc(written, unicode.IsLetter) { // a number, a date or a version
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

// appendPairs appends characters of a script without blanks.
func appendPairs(list []token, text string, start, end int) []token {
	var begins []int // of the characters; a mark belongs to the one before it
	for i, r := range text[start:end] {
		if isDense(r) {
			begins = append(begins, start+i)
		}
	}
	begins = append(begins, end)
	for i := range max(1, len(begins)-2) {
		from, to := begins[i], begins[min(i+2, len(begins)-1)]
		list = append(list, token{norm.NFKC.String(text[from:to]), pair, from, to})
	}
	return list
}

// fold returns a word in the form in which it is compared: small letters without marks
// and apostrophes.
func fold(written string) string {
	written = strings.TrimSuffix(strings.TrimSuffix(written, "'s"), "’s") // of "River's"
	return strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, norm.NFKD.String(written))
}

// singular returns a plural in the singular. It does what Harman's S-stemmer does:
// policies, caches, jobs. A word that only looks like a plural is shortened in the index
// and in the query alike, so that it is found all the same. Short words are left alone
// (TLS, DNS), but for ids.
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

// clip shortens a term to its bound, between characters.
func clip(term string) string {
	if len(term) <= maxTerm {
		return term
	}
	return strings.ToValidUTF8(term[:maxTerm], "")
}

// camel splits a component before a capital after a small letter or a digit, and before
// the last capital of several when a small letter follows (HTTP|Server). The plural of an
// acronym (IDs) is one part. It returns nil for one part.
func camel(component string) []string {
	var parts []string
	begin := 0
	var before, beforeThat rune
	last := 0 // where the character before begins
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

// subject returns the subject in the name of a package: db in xdb, cron in cronx. It is
// empty for other words. English words that end in x have a vowel before it.
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

// isLetter tells of what words are made of, in scripts with blanks.
func isLetter(r rune) bool {
	return !isDense(r) && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r))
}

// prolonged is the sound mark of Katakana, which Unicode counts to no script.
const prolonged = 'ー'

// isDense tells of the characters of scripts without blanks.
func isDense(r rune) bool {
	return r >= 0x1100 && (r == prolonged ||
		unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul))
}
