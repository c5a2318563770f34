package replica

import (
	"cmp"
	"slices"
	"strings"

	"github.com/plinthgo/plinth/core/major/xdb/internal/sqlscan"
)

// Words and parts of words that send a raw statement to the primary: they lock, write, or
// read the catalog, in which gorm's migrator must find a table that it just created.
var (
	primaryWords = []string{
		"CALL", "DELETE", "EXEC", "EXECUTE", "FOR", "INSERT", "INTO", "MERGE", "UPDATE",
		"SERIALIZABLE", "INFORMATION_SCHEMA", "SQLITE_MASTER", "SQLITE_SCHEMA", "SYS",
	}
	primaryParts = []string{
		"LOCK", "NEXTVAL", "SETVAL", "PG_", "SYS_CONTEXT",
		"USER_TAB", "USER_IND", "USER_CONS", "ALL_TAB", "ALL_IND", "ALL_CONS", "ALL_VIEWS",
	}
)

// onlyReads reports whether sql is exactly one SELECT that a replica can serve. If that
// is uncertain, it returns false.
func onlyReads(sql, dialect string) bool {
	s := sqlscan.New(sql, sqlscan.RulesOf(dialect))
	var first string
	for ended := false; s.More(); {
		t := s.Next()
		text := sql[t.Start:t.End]
		executed := t.Kind == sqlscan.Other && len(text) > 1 // an executed comment
		switch {
		case t.Open || executed:
			return false
		case t.Kind == sqlscan.Space || t.Kind == sqlscan.Comment:
		case ended:
			return false // a second statement
		case text == ";":
			ended = true
		case t.Kind == sqlscan.Word:
			word := strings.ToUpper(text)
			if first = cmp.Or(first, word); needsPrimary(word) {
				return false
			}
		}
	}
	return first == "SELECT" || first == "WITH"
}

func needsPrimary(word string) bool {
	return slices.Contains(primaryWords, word) ||
		slices.ContainsFunc(primaryParts,
			func(part string) bool { return strings.Contains(word, part) })
}
