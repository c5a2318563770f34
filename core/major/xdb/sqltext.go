package xdb

import (
	"strings"

	"github.com/plinthgo/plinth/core/major/xdb/internal/sqlscan"
)

// maxStatement bounds a statement in the log, in bytes: a batch repeats its placeholders
// a thousand times.
const maxStatement = 2048

// withoutLiterals returns a statement with "?" in place of every literal and without its
// comments, so that it can be logged whatever an application, or gorm itself for Raw and
// Scan, has written into it. Names and placeholders stay. If it is not certain that a
// literal ends, the rest of the statement is left out.
//
// dialect is gorm's name of the database, which determines how it quotes.
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

// placeholder returns a placeholder as the database has it: gorm makes $1$, which is $1
// and $, of a numbered one.
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

// logRules are the rules that hide too much rather than too little: the mode of the
// database is unknown, and gorm does not escape with a backslash.
func logRules(sql, dialect string) sqlscan.Rules {
	r := sqlscan.RulesOf(dialect)
	r.Doubtful, r.DollarQuotes, r.OracleQuotes = true, true, true
	r.SpacedDashes, r.ExecutedComments, r.NestedComments = false, false, dialect == "postgres" ||
		dialect == "sqlserver"
	// If names are in backticks, double quotes enclose a string.
	r.DoubleQuotedTexts = r.DoubleQuotedTexts || strings.Contains(sql, "`")
	return r
}
