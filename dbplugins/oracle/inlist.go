package oracle

import (
	"strings"
	"unicode"
)

// longestList is the maximum number of items of an IN list (ORA-01795).
const longestList = 1000

// splitLists splits an IN list of more than 1000 binds after a column: x IN (...) OR x IN
// (...), and NOT IN with AND. It processes the text of the statement and preserves the
// order of the binds.
func splitLists(query string) string {
	if !strings.Contains(query, ":1001") {
		return query // fast check for a long list
	}
	l := lists{tokens: tokensOf(query)}
	return l.split()
}

// lists processes the tokens of one statement.
type lists struct {
	tokens []string
	out    []string
}

func (l *lists) split() string {
	for i := 0; i < len(l.tokens); {
		end, ok := l.longList(i)
		if !ok {
			l.out = append(l.out, l.tokens[i])
			i++
			continue
		}
		l.rewrite(i, end)
		i = end + 1
	}
	return strings.Join(l.out, "")
}

// longList reports whether a list of too many binds starts with the IN at i, and returns
// the index of its closing parenthesis.
func (l *lists) longList(i int) (end int, ok bool) {
	if !strings.EqualFold(l.tokens[i], "IN") {
		return 0, false
	}
	i = skipSpace(l.tokens, i+1, 1)
	if i >= len(l.tokens) || l.tokens[i] != "(" {
		return 0, false
	}
	items := 0
	for i++; i < len(l.tokens); i++ {
		switch token := l.tokens[i]; {
		case token == ")":
			return i, items > longestList
		case strings.HasPrefix(token, ":"):
			items++
		case token != "," && strings.TrimSpace(token) != "":
			return 0, false // a subquery or a list of pairs, which has no limit
		}
	}
	return 0, false
}

// rewrite replaces the list at index in by shorter lists. The operand before the list is
// already in l.out.
func (l *lists) rewrite(in, end int) {
	last := skipSpace(l.out, len(l.out)-1, -1)
	word, join := " IN (", " OR "
	if last >= 0 && strings.EqualFold(l.out[last], "NOT") {
		word, join = " NOT IN (", " AND "
		last = skipSpace(l.out, last-1, -1)
	}
	first := operand(l.out, last)
	if first < 0 {
		l.out = append(l.out, l.tokens[in:end+1]...)
		return
	}
	left := strings.Join(l.out[first:last+1], "")
	l.out = append(l.out[:first], "(")
	items := 0
	for _, token := range l.tokens[in+1 : end] {
		if !strings.HasPrefix(token, ":") {
			continue
		}
		switch {
		case items == 0:
			l.out = append(l.out, left, word)
		case items%longestList == 0:
			l.out = append(l.out, ")", join, left, word)
		default:
			l.out = append(l.out, ",")
		}
		l.out = append(l.out, token)
		items++
	}
	l.out = append(l.out, "))")
}

// operand returns the index of the first token of the operand whose last token has the
// index last. The operand is a name, optionally qualified; operand returns a negative
// value for any other expression.
func operand(tokens []string, last int) int {
	i := last
	if i < 0 || !isName(tokens[i]) {
		return -1
	}
	for i >= 2 && tokens[i-1] == "." && isName(tokens[i-2]) {
		i -= 2
	}
	if before := skipSpace(tokens, i-1, -1); before >= 0 && tokens[before] != "(" &&
		!isName(tokens[before]) {
		return -1 // an operator
	}
	return i
}

func isName(token string) bool {
	return token[0] == '"' || token[0] != '\'' && token[0] != ':' &&
		strings.IndexFunc(token, unicode.IsLetter) == 0
}

// skipSpace returns the index of the next token from i that is neither space nor a
// comment. step is 1 or -1.
func skipSpace(tokens []string, i, step int) int {
	for i >= 0 && i < len(tokens) {
		t := tokens[i]
		if strings.TrimSpace(t) != "" && !strings.HasPrefix(t, "--") &&
			!strings.HasPrefix(t, "/*") {
			break
		}
		i += step
	}
	return i
}
