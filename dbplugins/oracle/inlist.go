package oracle

import (
	"regexp"
	"slices"
	"strings"
)

// longestList is how many items IN takes (ORA-01795).
const longestList = 1000

// lists are those of binds behind a name, maybe with dots.
var lists = func() *regexp.Regexp {
	const name = `(?:"[^"]+"|[\pL_][\pL\pN_$#]*)`
	return regexp.MustCompile(`(?i)(` + name + `(?:\.` + name + `)*)\s+(NOT\s+)?IN\s*\((\s*:\d+(?:\s*,\s*:\d+)*\s*)\)`)
}()

// splitLists turns a list of more than a thousand binds behind a column into several: x
// IN (...) OR x IN (...), and NOT IN with AND. It works on the text that is sent, so it
// does not matter how that was made. The binds keep their order. A list behind anything
// else is the server's to refuse.
func splitLists(query string) string {
	if !strings.Contains(query, ":1001") {
		return query // the shortest way to see that there is no such list
	}
	var out strings.Builder
	done := 0
	for _, at := range lists.FindAllStringSubmatchIndex(query, -1) {
		column, binds := query[at[2]:at[3]], strings.Split(query[at[6]:at[7]], ",")
		before := strings.TrimSpace(query[:at[0]])
		if len(binds) <= longestList || strings.ContainsAny(before[max(len(before)-1, 0):], "+-*/|:") { // an operator, or a bind
			continue
		}
		word, join := " IN (", ") OR "
		if at[4] >= 0 {
			word, join = " NOT IN (", ") AND "
		}
		parts := make([]string, 0, 1+len(binds)/longestList)
		for chunk := range slices.Chunk(binds, longestList) {
			parts = append(parts, column+word+strings.Join(chunk, ","))
		}
		out.WriteString(query[done:at[0]] + "(" + strings.Join(parts, join) + "))")
		done = at[1]
	}
	return out.String() + query[done:]
}
