package oracle

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// clauseBuilders write clauses that differ from gorm's.
var clauseBuilders = map[string]clause.ClauseBuilder{
	"FROM": buildFrom, "WHERE": buildWhere, "LIMIT": buildLimit, "FOR": buildFor,
}

// isLockedPage reports whether the statement locks a limited number of rows. FOR UPDATE
// cannot be combined with FETCH (ORA-02014), so a subquery selects the rows.
func isLockedPage(stmt *gorm.Statement) bool {
	_, isLocking := stmt.Clauses["FOR"].Expression.(clause.Locking)
	limit, hasLimit := stmt.Clauses["LIMIT"].Expression.(clause.Limit)
	return isLocking && hasLimit && isQuery(stmt) &&
		(limit.Limit != nil && *limit.Limit >= 0 || limit.Offset > 0)
}

// buildFrom writes the FROM clause. For a locked page it writes
//
//	FROM "T" WHERE "T".ROWID IN
//	(SELECT "T".ROWID ... FROM "T" WHERE ... ORDER BY ... FETCH ...)
//
// The ORDER BY and FOR UPDATE clauses follow as usual.
func buildFrom(c clause.Clause, b clause.Builder) {
	c.Build(b)
	stmt, ok := b.(*gorm.Statement)
	if !ok || !isLockedPage(stmt) {
		return
	}
	row := quoted(stmt.Table) + ".ROWID"
	write(b, " WHERE ", row, " IN (SELECT ", row, ` "PLINTH_ROW" `)
	c.Build(b)
	for _, name := range []string{"WHERE", "ORDER BY"} {
		if part, ok := stmt.Clauses[name]; ok {
			write(b, " ")
			part.Build(b)
		}
	}
	write(b, " ")
	writeLimit(stmt.Clauses["LIMIT"], b)
	write(b, ")")
}

func buildWhere(c clause.Clause, b clause.Builder) {
	if stmt, ok := b.(*gorm.Statement); ok && isLockedPage(stmt) {
		return // buildFrom writes the condition in the subquery
	}
	c.Build(b)
}

// isQuery reports whether the statement is a SELECT.
func isQuery(stmt *gorm.Statement) bool {
	return len(stmt.BuildClauses) > 0 && stmt.BuildClauses[0] == "SELECT"
}

func buildLimit(c clause.Clause, b clause.Builder) {
	if stmt, ok := b.(*gorm.Statement); ok && isLockedPage(stmt) {
		return // buildFrom writes the limit in the subquery
	}
	writeLimit(c, b)
}

func writeLimit(c clause.Clause, b clause.Builder) {
	limit, ok := c.Expression.(clause.Limit)
	if !ok {
		return
	}
	var parts []string
	if limit.Offset > 0 {
		parts = append(parts, "OFFSET "+strconv.Itoa(limit.Offset)+" ROWS")
	}
	if limit.Limit != nil && *limit.Limit >= 0 {
		parts = append(parts, "FETCH NEXT "+strconv.Itoa(*limit.Limit)+" ROWS ONLY")
	}
	write(b, strings.Join(parts, " "))
}

var errShare = errors.New("oracle: shared row locks are not supported: " +
	`use clause.Locking{Strength: "UPDATE"}`)

func buildFor(c clause.Clause, b clause.Builder) {
	locking, ok := c.Expression.(clause.Locking)
	if !ok {
		c.Build(b)
		return
	}
	if !strings.EqualFold(locking.Strength, clause.LockingStrengthUpdate) {
		_ = b.AddError(errShare)
		return
	}
	write(b, "FOR UPDATE")
	if locking.Table.Name != "" {
		writeLockedTable(locking.Table, b)
	}
	if locking.Options != "" {
		write(b, " ", locking.Options)
	}
}

// writeLockedTable writes a column of the table, as FOR UPDATE OF requires.
func writeLockedTable(table clause.Table, b clause.Builder) {
	stmt, ok := b.(*gorm.Statement)
	isMain := ok && (table.Name == clause.CurrentTable || table.Name == stmt.Table)
	if !isMain || stmt.Schema == nil || len(stmt.Schema.DBNames) == 0 {
		_ = b.AddError(fmt.Errorf("oracle: cannot lock only the rows of %q: "+
			"only the main table of the query is supported", table.Name))
		return
	}
	write(b, " OF ", quoted(stmt.Table), ".", quoted(stmt.Schema.DBNames[0]))
}

// writeEach calls do with 0 to n-1 and writes the separator between the calls.
func writeEach(w clause.Writer, n int, separator string, do func(i int)) {
	for i := range n {
		if i > 0 {
			write(w, separator)
		}
		do(i)
	}
}

func write(w clause.Writer, texts ...string) {
	for _, text := range texts {
		_, _ = w.WriteString(text)
	}
}
