package sqlfile

import (
	"slices"
	"strings"

	"github.com/plinthgo/plinth/core/major/xdb/internal/sqlscan"
)

// oracleVerbs begin the statements of Oracle, and those that are refused with a reason of
// their own.
var oracleVerbs = []string{
	"ADMINISTER", "ALTER", "ANALYZE", "ASSOCIATE", "AUDIT", "BEGIN", "CALL", "COMMENT", "COMMIT", "CREATE", "DECLARE",
	"DELETE", "DISASSOCIATE", "DROP", "END", "EXPLAIN", "FLASHBACK", "GRANT", "INSERT", "LOCK", "MERGE", "NOAUDIT", "PURGE",
	"RENAME", "REVOKE", "ROLLBACK", "SAVEPOINT", "SELECT", "SET", "TRUNCATE", "UPDATE", "WITH",
}

// separates reports whether a token is GO or / on a line of its own, which end a
// statement for the tools of SQL Server and Oracle. Behind GO there may be a number, a
// semicolon and a comment.
func (s *splitter) separates(t sqlscan.Token, text string) bool {
	before, after := s.lineAround(t.Start, t.End)
	switch {
	case before != "":
		return false
	case s.dialect == "sqlserver" && strings.EqualFold(text, "GO"):
		after, _, _ = strings.Cut(after, "--")
		return strings.Trim(after, "0123456789; \t") == ""
	default:
		return s.dialect == "oracle" && text == "/" && s.now.depth == 0 && after == ""
	}
}

// separate ends the statement before GO or /.
func (s *splitter) separate(t sqlscan.Token, text string) error {
	_, after := s.lineAround(t.Start, t.End)
	switch {
	case text != "/" && strings.IndexAny(after, "0123456789") == 0:
		return s.problem(t.Start, "GO with a number repeats a batch, which a migration does not: remove the number, "+
			"and write the statements as often as they are to run")
	case text == "/" && s.now.started:
		s.slash = t.Start
	}
	return s.finish()
}

// afterSlash wants a statement behind a / that has ended one: half of an UPDATE would
// change every row.
func (s *splitter) afterSlash(text string) error {
	at := s.slash
	s.slash = 0
	if at == 0 || slices.Contains(oracleVerbs, strings.ToUpper(text)) {
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
