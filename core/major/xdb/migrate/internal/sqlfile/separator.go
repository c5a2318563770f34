package sqlfile

import (
	"slices"
	"strings"

	"github.com/plinthgo/plinth/core/major/xdb/internal/sqlscan"
)

// separates reports whether a token is GO or / on a line of its own, which end a
// statement for the tools of SQL Server and Oracle.
func (s *splitter) separates(t sqlscan.Token) (bool, error) {
	switch word := upper(s.text, t); {
	case s.dialect == "sqlserver" && word == "GO":
		return s.separatesBatches(t)
	case s.dialect == "oracle" && word == "/" && s.now.depth == 0 && s.alone(t.Start, t.End):
		if s.now.started {
			s.slash = t.Start
		}
		return true, nil
	default:
		return false, nil
	}
}

// separatesBatches reports whether a GO is on a line of its own, with at most a
// semicolon and a comment.
func (s *splitter) separatesBatches(t sqlscan.Token) (bool, error) {
	before, after := s.lineAround(t.Start, t.End)
	after, _, _ = strings.Cut(after, "--")
	after = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(after), ";"))
	switch {
	case before != "":
		return false, nil
	case after != "" && strings.Trim(after, "0123456789") == "":
		return false, s.problem(t.Start, "GO with a number repeats a batch, which a migration does not: remove the number, "+
			"and write the statements as often as they are to run")
	default:
		return after == "", nil
	}
}

// oracleVerbs begin the statements of Oracle, and those that are refused with a reason of
// their own.
var oracleVerbs = []string{
	"ADMINISTER", "ALTER", "ANALYZE", "ASSOCIATE", "AUDIT", "BEGIN", "CALL", "COMMENT", "COMMIT", "CREATE", "DECLARE",
	"DELETE", "DISASSOCIATE", "DROP", "END", "EXPLAIN", "FLASHBACK", "GRANT", "INSERT", "LOCK", "MERGE", "NOAUDIT", "PURGE",
	"RENAME", "REVOKE", "ROLLBACK", "SAVEPOINT", "SELECT", "SET", "TRUNCATE", "UPDATE", "WITH",
}

// afterSlash wants a statement behind a / that has ended one: half of an UPDATE would
// change every row.
func (s *splitter) afterSlash(t sqlscan.Token) error {
	at := s.slash
	s.slash = 0
	if at == 0 || slices.Contains(oracleVerbs, upper(s.text, t)) {
		return nil
	}
	return s.problem(at, "/ on a line of its own ends the statement, and what follows begins none: write a division on one line")
}

// lineAround returns what else is on the line of a token, without the white space
// around it.
func (s *splitter) lineAround(start, end int) (before, after string) {
	before = s.text[strings.LastIndexByte(s.text[:start], '\n')+1 : start]
	after, _, _ = strings.Cut(s.text[end:], "\n")
	return strings.TrimSpace(before), strings.TrimSpace(after)
}

// alone reports whether nothing else is on the line.
func (s *splitter) alone(start, end int) bool {
	before, after := s.lineAround(start, end)
	return before == "" && after == ""
}
