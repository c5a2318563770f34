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

const (
	updateLock = "UPDLOCK, ROWLOCK"
	// readPast is refused at READ COMMITTED in a database with READ_COMMITTED_SNAPSHOT,
	// unless the table is read with locks.
	readPast = ", READPAST"
)

// hints are what a strength of clause.Locking means. UPDLOCK is held until the
// transaction ends, and so are the shared locks of REPEATABLEREAD; ROWLOCK keeps the
// server from taking a page at once.
var hints = map[string]string{
	"UPDATE":        updateLock,
	"NO KEY UPDATE": updateLock,
	"SHARE":         "REPEATABLEREAD, ROWLOCK",
	"KEY SHARE":     "REPEATABLEREAD, ROWLOCK",
}

// waits are what its options add.
var waits = map[string]string{
	"":            "",
	"SKIP LOCKED": readPast,
	"NOWAIT":      ", NOWAIT",
}

// hintOf returns the hint for a lock. What has none is an error: rows that are not locked
// would go unnoticed.
func hintOf(stmt *gorm.Statement, from clause.From, lock clause.Locking) (string, error) {
	strength, known := hints[strings.ToUpper(lock.Strength)]
	if !known {
		return "", fmt.Errorf("sqlserver: clause.Locking: the strength %q has no table hint",
			lock.Strength)
	}
	wait, known := waits[strings.ToUpper(lock.Options)]
	if !known {
		return "", fmt.Errorf("sqlserver: clause.Locking: the options %q have no table hint",
			lock.Options)
	}
	if len(from.Tables) > 1 {
		const text = "sqlserver: clause.Locking: a query from %d tables does not say which to lock"
		return "", fmt.Errorf(text, len(from.Tables))
	}
	if of := lock.Table.Name; of != "" && of != clause.CurrentTable && of != stmt.Table {
		const text = "sqlserver: clause.Locking: only rows of the main table %q can be locked, not of %q"
		return "", fmt.Errorf(text, stmt.Table, of)
	}
	if wait == readPast && strength == updateLock {
		strength += ", READCOMMITTEDLOCK"
	}
	return strength + wait, nil
}
