package xdb

import (
	"strings"

	"github.com/plinthgo/plinth/core/major/xdb/internal/sqlscan"
)

// maxStatement limits a logged statement, in bytes, because a batch has many
// placeholders.
const maxStatement = 2048

// withoutLiterals replaces every literal of a statement with "?" and removes comments, so
// that it can be logged even if the application, or gorm for Raw and Scan, has inlined
// values. It keeps names and placeholders. If the end of a literal is uncertain, it omits
// the rest of the statement.
//
// dialect is gorm's name of the database, which determines the quoting rules.
func withoutLiterals(sql, dialect string) string {
	s := sqlscan.New(sql, logRules(sql, dialect))
	var out strings.Builder
	for s.More() && out.Len() < maxStatement {
		switch t := s.Next(); t.Kind {
		case sqlscan.Literal:
			out.WriteByte('?')
		case sqlscan.Comment:
			out.WriteByte(' ')
		case sqlscan.Placeholder:
			out.WriteString(placeholder(sql[t.Start:t.End], dialect))
		default:
			out.WriteString(sql[t.Start:t.End])
		}
	}
	if s.More() {
		out.WriteString("…")
	}
	return out.String()
}

// placeholder returns a placeholder in the syntax of the database. gorm writes a numbered
// placeholder as $1$, which is scanned as $1 and $.
func placeholder(text, dialect string) string {
	number, _ := strings.CutPrefix(text, "$")
	switch {
	case number == "":
		return ""
	case dialect == "sqlserver" && number != text && strings.Trim(number, "0123456789") == "":
		return "@p" + number
	default:
		return text
	}
}

// logRules returns rules that replace more than the literals if in doubt: the SQL mode of
// the database is unknown, and gorm does not escape with a backslash.
func logRules(sql, dialect string) sqlscan.Rules {
	r := sqlscan.RulesOf(dialect)
	r.Doubtful, r.DollarQuotes, r.OracleQuotes = true, true, true
	r.SpacedDashes, r.ExecutedComments = false, false
	r.NestedComments = dialect == "postgres" || dialect == "sqlserver"
	// If names are in backticks, double quotes enclose a string.
	r.DoubleQuotedTexts = r.DoubleQuotedTexts || strings.Contains(sql, "`")
	return r
}
