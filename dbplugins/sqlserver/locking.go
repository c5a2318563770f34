package sqlserver

import (
	"fmt"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// buildFor writes nothing, because a lock is a table hint.
func buildFor(clause.Clause, clause.Builder) {}

// buildFrom writes the FROM clause with the hint of clause.Locking after the first table.
func buildFrom(c clause.Clause, builder clause.Builder) {
	from, ok := c.Expression.(clause.From)
	stmt, isStatement := builder.(*gorm.Statement)
	if !ok || !isStatement {
		c.Build(builder)
		return
	}
	lock, isLocking := stmt.Clauses["FOR"].Expression.(clause.Locking)
	if !isLocking {
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
	// readPast requires a locking read at READ COMMITTED if READ_COMMITTED_SNAPSHOT is
	// on.
	readPast = ", READPAST"
)

// hints maps a clause.Locking strength to table hints. UPDLOCK and the shared locks of
// REPEATABLEREAD are held until the end of the transaction. ROWLOCK prevents page locks.
var hints = map[string]string{
	"UPDATE":        updateLock,
	"NO KEY UPDATE": updateLock,
	"SHARE":         "REPEATABLEREAD, ROWLOCK",
	"KEY SHARE":     "REPEATABLEREAD, ROWLOCK",
}

// waits maps clause.Locking options to table hints.
var waits = map[string]string{
	"":            "",
	"SKIP LOCKED": readPast,
	"NOWAIT":      ", NOWAIT",
}

// hintOf returns the hint for a lock. It returns an error if no hint exists, because
// ignoring the lock would be a silent failure.
func hintOf(stmt *gorm.Statement, from clause.From, lock clause.Locking) (string, error) {
	strength, known := hints[strings.ToUpper(lock.Strength)]
	if !known {
		return "", fmt.Errorf("sqlserver: clause.Locking: unsupported strength %q", lock.Strength)
	}
	wait, known := waits[strings.ToUpper(lock.Options)]
	if !known {
		return "", fmt.Errorf("sqlserver: clause.Locking: unsupported options %q", lock.Options)
	}
	if len(from.Tables) > 1 {
		return "", fmt.Errorf("sqlserver: clause.Locking: cannot lock rows of %d tables: "+
			"query a single table", len(from.Tables))
	}
	if table := lock.Table.Name; table != "" && table != clause.CurrentTable &&
		table != stmt.Table {
		return "", fmt.Errorf("sqlserver: clause.Locking: only rows of the main table %q "+
			"can be locked, not of %q", stmt.Table, table)
	}
	if wait == readPast && strength == updateLock {
		strength += ", READCOMMITTEDLOCK"
	}
	return strength + wait, nil
}
