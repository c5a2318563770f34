package sqlscan

import "strings"

// quotation scans a quoted string or name.
func (s *Scanner) quotation(c byte) (kind Kind, end int, open bool) {
	switch {
	case c == '\'' || c == '"' && s.rules.DoubleQuotedTexts:
		end, open = s.skipQuoted(s.at, c, s.rules.Backslash)
		return Literal, end, open
	case c == '[':
		c = ']'
	}
	end, open = s.skipQuoted(s.at, c, false)
	return Name, end, open
}

// skipQuoted returns the end of the quotation at from. A doubled quote is an escaped
// quote.
func (s *Scanner) skipQuoted(from int, quote byte, backslash bool) (end int, open bool) {
	for i := from + 1; i < len(s.in); i++ {
		switch {
		case backslash && s.in[i] == '\\':
			if s.rules.Doubtful {
				return len(s.in), true
			}
			i++
		case s.in[i] != quote:
		case i+1 < len(s.in) && s.in[i+1] == quote:
			i++
		default:
			return i + 1, false
		}
	}
	return len(s.in), true
}

// skipOracleQuote returns the end of the q'[…]' whose quote is at from.
func (s *Scanner) skipOracleQuote(from int) (end int, open bool) {
	if from+1 >= len(s.in) {
		return len(s.in), true
	}
	closing := s.in[from+1]
	if i := strings.IndexByte("[({<", closing); i >= 0 {
		closing = "])}>"[i]
	}
	if i := strings.Index(s.in[from+2:], string([]byte{closing, '\''})); i >= 0 {
		return from + 2 + i + 2, false
	}
	return len(s.in), true
}

// placeholder scans $1, @p1 or :name, or a dollar-quoted string.
func (s *Scanner) placeholder() (kind Kind, end int, open bool) {
	end = s.skipWord(s.at+1, false)
	if !s.opensDollarQuote(end) {
		return Placeholder, end, false
	}
	tag := s.in[s.at : end+1]
	if i := strings.Index(s.in[end+1:], tag); i >= 0 {
		return Literal, end + 1 + i + len(tag), false
	}
	return Literal, len(s.in), true
}

// opensDollarQuote reports whether the token up to end starts a $tag$. A tag is an
// identifier that does not continue a preceding name.
func (s *Scanner) opensDollarQuote(end int) bool {
	if !s.rules.DollarQuotes || s.in[s.at] != '$' || end == len(s.in) || s.in[end] != '$' ||
		isDigit(s.in[s.at+1]) {
		return false
	}
	return s.at == 0 || !isName(s.in[s.at-1]) && !isDigit(s.in[s.at-1])
}
