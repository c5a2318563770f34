// Package sqlscan splits SQL into tokens: strings, names, comments and the rest. It does
// not parse a grammar and accepts every input.
package sqlscan

import (
	"strings"
	"unicode/utf8"
)

// Kind is the kind of a token.
type Kind uint8

// The token kinds.
const (
	// Other is a single byte of no other kind, such as an operator or a semicolon.
	Other Kind = iota
	// Space is a run of white space.
	Space
	// Comment is a comment with its delimiters, including the line feed of a line
	// comment.
	Comment
	// Literal is a string with its quotes and prefix, or a number.
	Literal
	// Name is a quoted name.
	Name
	// Word is an unquoted name or keyword.
	Word
	// Placeholder is $1, @name or :name.
	Placeholder
)

// Token is a piece of the input.
type Token struct {
	Kind       Kind
	Start, End int
	// Open reports whether the token is incomplete at the end of the input.
	Open bool
}

// Scanner splits SQL from left to right. The tokens cover the whole input without gaps.
type Scanner struct {
	in    string
	at    int
	rules Rules
}

// New returns a Scanner for in.
func New(in string, rules Rules) Scanner { return Scanner{in: in, rules: rules} }

// More reports whether there is another token.
func (s *Scanner) More() bool { return s.at < len(s.in) }

// Skip continues at byte index to.
func (s *Scanner) Skip(to int) { s.at = to }

// Next returns the next token. Call it only if More returns true.
func (s *Scanner) Next() Token {
	t := Token{Start: s.at}
	t.Kind, t.End, t.Open = s.token(s.in[s.at])
	s.at = t.End
	return t
}

// token returns the kind and the end of the token that starts with c.
func (s *Scanner) token(c byte) (kind Kind, end int, open bool) {
	switch {
	case isSpace(c):
		return Space, len(s.in) - len(strings.TrimLeft(s.in[s.at:], spaces)), false
	case isName(c):
		return s.word()
	case isDigit(c) || c == '.' && s.at+1 < len(s.in) && isDigit(s.in[s.at+1]):
		return Literal, s.skipWord(s.at, true), false
	default:
		return s.symbol(c)
	}
}

// symbol scans a token that starts with a byte other than a letter, a digit or space.
func (s *Scanner) symbol(c byte) (kind Kind, end int, open bool) {
	switch c {
	case '\'', '"', '`':
		return s.quotation(c)
	case '[':
		if s.rules.Brackets {
			return s.quotation(c)
		}
	case '-', '/', '#':
		return s.comment(c)
	case '$', '@', ':':
		return s.placeholder()
	}
	return Other, s.at + 1, false
}

// skipWord returns the end of the name or number at from.
func (s *Scanner) skipWord(from int, number bool) int {
	i := from
	for i < len(s.in) && (isName(s.in[i]) || isDigit(s.in[i]) || number &&
		(s.in[i] == '.' || s.exponentSign(i))) {
		i++
	}
	return i
}

// exponentSign reports whether the byte at i is the sign in a number such as 1e-5.
func (s *Scanner) exponentSign(i int) bool {
	return (s.in[i] == '-' || s.in[i] == '+') && i > s.at && s.in[i-1]|0x20 == 'e' &&
		i+1 < len(s.in) && isDigit(s.in[i+1])
}

// word scans a name or keyword. The prefix of a string, as in E'…' or X'…', is part of
// the string.
func (s *Scanner) word() (kind Kind, end int, open bool) {
	end = s.skipWord(s.at, false)
	if end == len(s.in) || s.in[end] != '\'' || end-s.at > 2 {
		return Word, end, false
	}
	prefix := strings.ToLower(s.in[s.at:end])
	if s.rules.OracleQuotes && (prefix == "q" || prefix == "nq") {
		end, open = s.skipOracleQuote(end)
		return Literal, end, open
	}
	end, open = s.skipQuoted(end, '\'', prefix == "e" || s.rules.Backslash)
	return Literal, end, open
}

// comment scans a token that starts with -, / or #, which is not always a comment.
func (s *Scanner) comment(c byte) (kind Kind, end int, open bool) {
	rest := s.in[s.at:]
	switch {
	case strings.HasPrefix(rest, "/*"):
		end, open = s.skipComment()
		if s.rules.ExecutedComments &&
			(strings.HasPrefix(rest, "/*!") || strings.HasPrefix(rest, "/*M!")) {
			return Other, end, open
		}
		return Comment, end, open
	case c == '#' && s.rules.HashComments, strings.HasPrefix(rest, "--") &&
		s.dashesComment(rest[2:]):
		line := strings.SplitAfterN(rest, "\n", 2)[0]
		return Comment, s.at + len(line), false
	default:
		return Other, s.at + 1, false
	}
}

// dashesComment reports whether two dashes followed by after start a comment.
func (s *Scanner) dashesComment(after string) bool {
	return !s.rules.SpacedDashes || after == "" || isSpace(after[0])
}

// skipComment returns the end of the /* comment at the current byte.
func (s *Scanner) skipComment() (end int, open bool) {
	depth := 1
	for i := s.at + 2; i+1 < len(s.in); i++ {
		switch {
		case s.in[i] == '*' && s.in[i+1] == '/':
			i++
			if depth--; depth == 0 {
				return i + 1, false
			}
		case s.rules.NestedComments && s.in[i] == '/' && s.in[i+1] == '*':
			i++
			depth++
		}
	}
	return len(s.in), true
}

const spaces = " \t\n\v\f\r"

func isSpace(c byte) bool { return strings.IndexByte(spaces, c) >= 0 }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isName(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_' || c >= utf8.RuneSelf
}
