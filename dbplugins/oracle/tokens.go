package oracle

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// tokensOf splits a statement into tokens: quoted text, comments, binds, words, spaces,
// and single characters. Their concatenation is the statement.
func tokensOf(query string) []string {
	tokens := make([]string, 0, len(query)/3)
	for query != "" {
		n := tokenLength(query)
		tokens = append(tokens, query[:n])
		query = query[n:]
	}
	return tokens
}

// tokenLength returns the length of the first token.
func tokenLength(s string) int {
	switch {
	case s[0] == '\'', s[0] == '"': // a doubled quote becomes two tokens, which has no effect
		return through(s, 1, s[:1])
	case strings.HasPrefix(s, "--"):
		return through(s, 2, "\n")
	case strings.HasPrefix(s, "/*"):
		return through(s, 2, "*/")
	case s[0] == ':':
		return 1 + span(s[1:], isWord)
	}
	for _, class := range []func(rune) bool{isWord, unicode.IsSpace} {
		if n := span(s, class); n > 0 {
			return n
		}
	}
	_, n := utf8.DecodeRuneInString(s)
	return n
}

// through returns the length up to and including end, or the length of s.
func through(s string, from int, end string) int {
	if i := strings.Index(s[from:], end); i >= 0 {
		return from + i + len(end)
	}
	return len(s)
}

// span returns the length of the prefix whose runes are all in a class.
func span(s string, class func(rune) bool) int {
	return len(s) - len(strings.TrimLeftFunc(s, class))
}

func isWord(r rune) bool {
	return r == '_' || r == '$' || r == '#' || unicode.IsLetter(r) || unicode.IsDigit(r)
}
