package oracle

import (
	"strings"
	"unicode"
)

// longestList is how many items IN takes (ORA-01795).
const longestList = 1000

// splitLists turns a list of more than a thousand binds behind a column into several: x
// IN (...) OR x IN (...), and NOT IN with AND. It works on the text that is sent, so it
// does not matter how that was made. The binds keep their order.
func splitLists(query string) string {
	if !strings.Contains(query, ":1001") {
		return query // the shortest way to see that there is no such list
	}
	l := lists{tokens: tokensOf(query)}
	return l.split()
}

// lists works through the tokens of one statement.
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

// longList reports whether a list of too many binds begins with the IN at i, and where
// its parenthesis closes.
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
			return 0, false // a subquery, or a list of pairs, which may be longer
		}
	}
	return 0, false
}

// rewrite writes the lists in place of the one that begins at in. The operand before it
// is written already.
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

// operand returns where the operand begins that ends at last: a name, maybe with dots. It
// is negative if there is something else: a call, a bind, a literal, an expression.
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

// skipSpace returns the first token from i on, in steps, that is neither space nor a
// comment.
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
