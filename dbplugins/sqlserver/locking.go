package sqlserver

import (
	"fmt"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// buildFor writes nothing: a lock is a hint behind the table.
func buildFor(clause.Clause, clause.Builder) {}

// buildFrom writes FROM, with the hint of clause.Locking behind the first table.
func buildFrom(c clause.Clause, builder clause.Builder) {
	from, ok := c.Expression.(clause.From)
	stmt, isStatement := builder.(*gorm.Statement)
	if !ok || !isStatement {
		c.Build(builder)
		return
	}
	lock, locks := stmt.Clauses["FOR"].Expression.(clause.Locking)
	if !locks {
		c.Build(builder)
		return
	}
	hint, err := hintOf(stmt, from, lock)
	if err != nil {
		_ = stmt.AddError(err)
		return
	}
	joins := from.Joins
	from.Joins = nil
	c.Expression = from
	c.Build(builder)
	_, _ = stmt.WriteString(" WITH (" + hint + ")")
	for _, join := range joins {
		_ = stmt.WriteByte(' ')
		join.Build(stmt)
	}
}

// hints are what a strength of clause.Locking means. UPDLOCK is held until the transaction ends, and so are the shared locks of
// REPEATABLEREAD; ROWLOCK keeps the server from taking a page at once.
var hints = map[string]string{
	"UPDATE":        "UPDLOCK, ROWLOCK",
	"NO KEY UPDATE": "UPDLOCK, ROWLOCK",
	"SHARE":         "REPEATABLEREAD, ROWLOCK",
	"KEY SHARE":     "REPEATABLEREAD, ROWLOCK",
}

// waits are what its options add.
var waits = map[string]string{
	"":            "",
	"SKIP LOCKED": ", READPAST",
	"NOWAIT":      ", NOWAIT",
}

// hintOf returns the hint for a lock. What has none is an error: rows that are not locked would go unnoticed.
func hintOf(stmt *gorm.Statement, from clause.From, lock clause.Locking) (string, error) {
	strength, known := hints[strings.ToUpper(lock.Strength)]
	if !known {
		return "", fmt.Errorf("sqlserver: clause.Locking: the strength %q has no table hint", lock.Strength)
	}
	wait, known := waits[strings.ToUpper(lock.Options)]
	if !known {
		return "", fmt.Errorf("sqlserver: clause.Locking: the options %q have no table hint", lock.Options)
	}
	if len(from.Tables) > 1 {
		return "", fmt.Errorf("sqlserver: clause.Locking: a query from %d tables does not say which to lock", len(from.Tables))
	}
	if of := lock.Table.Name; of != "" && of != clause.CurrentTable && of != stmt.Table {
		return "", fmt.Errorf("sqlserver: clause.Locking: only rows of the main table %q can be locked, not of %q", stmt.Table, of)
	}
	return strength + wait, nil
}
