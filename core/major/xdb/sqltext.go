package xdb

import (
	"strings"
	"unicode/utf8"
)

// maxStatement bounds a statement in the log, in bytes: a batch repeats its placeholders a thousand times.
const maxStatement = 2048

// withoutLiterals returns a statement with "?" in place of every literal and without its comments, so that it
// can be logged whatever an application, or gorm itself for Raw and Scan, has written into it. Names and
// placeholders stay. Where it is not certain that a literal ends, the rest of the statement is left out.
//
// dialect is gorm's name of the database, for what each quotes in a way of its own.
func withoutLiterals(sql, dialect string) string {
	s := sqlText{
		in: sql, mysql: dialect == "mysql", brackets: dialect == "sqlserver",
		// Where names stand in backticks, double quotes are those of a text.
		doubleQuotes: dialect == "mysql" || dialect == "sqlite" || strings.Contains(sql, "`"),
	}
	for s.at < len(s.in) && s.out.Len() < maxStatement {
		s.next()
	}
	if s.at < len(s.in) {
		s.out.WriteString("…")
	}
	return s.out.String()
}

// sqlText reads a statement from the left.
type sqlText struct {
	in  string
	at  int
	out strings.Builder

	mysql        bool // a backslash may escape
	brackets     bool // [names]
	doubleQuotes bool // "texts"
}

// next moves one token from in to out.
func (s *sqlText) next() {
	c := s.in[s.at]
	switch {
	case s.quotation(c):
	case s.has("--") || s.has("/*"):
		s.comment()
	case strings.IndexByte("$@:", c) >= 0:
		s.placeholder()
	case isDigit(c) || c == '.' && s.at+1 < len(s.in) && isDigit(s.in[s.at+1]):
		s.literal(s.skipWord(s.at, true))
	case isName(c):
		s.word()
	default:
		s.keep(s.at + 1)
	}
}

// quotation moves a quoted text or name; it returns false where none begins with c.
func (s *sqlText) quotation(c byte) bool {
	switch {
	case c == '\'' || c == '"' && s.doubleQuotes:
		s.literal(s.skipQuoted(c, s.mysql))
	case c == '"' || c == '`':
		s.keep(s.skipQuoted(c, false))
	case c == '[' && s.brackets:
		s.keep(s.skipQuoted(']', false))
	default:
		return false
	}
	return true
}

// keep copies the text up to end.
func (s *sqlText) keep(end int) {
	s.out.WriteString(s.in[s.at:end])
	s.at = end
}

// literal writes "?" for the text up to end.
func (s *sqlText) literal(end int) {
	s.out.WriteByte('?')
	s.at = end
}

func (s *sqlText) has(prefix string) bool { return strings.HasPrefix(s.in[s.at:], prefix) }

// skipQuoted returns the end of the quotation that begins at the current byte, where a doubled quote stands
// for itself. Where a backslash may escape, one leaves open what comes next: the database reads it as an
// escape, but gorm does not write it as one.
func (s *sqlText) skipQuoted(quote byte, backslash bool) int {
	for i := s.at + 1; i < len(s.in); i++ {
		switch {
		case backslash && s.in[i] == '\\':
			return len(s.in)
		case s.in[i] != quote:
		case i+1 < len(s.in) && s.in[i+1] == quote:
			i++
		default:
			return i + 1
		}
	}
	return len(s.in)
}

// skipWord returns the end of the name or number that begins at from.
func (s *sqlText) skipWord(from int, number bool) int {
	i := from
	for i < len(s.in) && (isName(s.in[i]) || isDigit(s.in[i]) || number && (s.in[i] == '.' || s.exponentSign(i))) {
		i++
	}
	return i
}

// exponentSign reports whether the byte at i is the sign in a number such as 1e-5.
func (s *sqlText) exponentSign(i int) bool {
	return (s.in[i] == '-' || s.in[i] == '+') && i > s.at && s.in[i-1]|0x20 == 'e' && i+1 < len(s.in) && isDigit(s.in[i+1])
}

// word copies a name or keyword. One that belongs to the literal behind it, as in E'…' or X'…', goes with it.
func (s *sqlText) word() {
	end := s.skipWord(s.at, false)
	if end == len(s.in) || s.in[end] != '\'' || end-s.at > 2 {
		s.keep(end)
		return
	}
	prefix := strings.ToLower(s.in[s.at:end])
	s.at = end
	if prefix == "q" || prefix == "nq" {
		s.literal(s.skipOracleQuote())
		return
	}
	s.literal(s.skipQuoted('\'', prefix == "e" || s.mysql))
}

// skipOracleQuote returns the end of the q'[…]' that begins at the current quote.
func (s *sqlText) skipOracleQuote() int {
	if s.at+1 >= len(s.in) {
		return len(s.in)
	}
	open := s.in[s.at+1]
	if i := strings.IndexByte("[({<", open); i >= 0 {
		open = "])}>"[i]
	}
	if i := strings.Index(s.in[s.at+2:], string([]byte{open, '\''})); i >= 0 {
		return s.at + 2 + i + 2
	}
	return len(s.in)
}

// placeholder copies $1, @p1 or :name, and replaces a literal in dollar quotes.
func (s *sqlText) placeholder() {
	end := s.skipWord(s.at+1, false)
	if s.in[s.at] == '$' && end < len(s.in) && s.in[end] == '$' {
		tag := s.in[s.at : end+1]
		if i := strings.Index(s.in[end+1:], tag); i >= 0 {
			s.literal(end + 1 + i + len(tag))
		} else {
			s.literal(len(s.in))
		}
		return
	}
	s.keep(end)
}

// comment leaves a comment out.
func (s *sqlText) comment() {
	end, skip := "\n", 1
	if s.has("/*") {
		end, skip = "*/", 2
	}
	s.out.WriteByte(' ')
	if i := strings.Index(s.in[s.at+2:], end); i >= 0 {
		s.at += 2 + i + skip
		return
	}
	s.at = len(s.in)
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isName(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_' || c >= utf8.RuneSelf
}
