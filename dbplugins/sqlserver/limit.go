package sqlserver

import (
	"math"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// buildLimit writes OFFSET and FETCH, which require an ORDER BY. The numbers are
// parameters, because a literal above the int range is a decimal. FETCH does not accept
// 0; for a limit of 0, buildLimit skips the maximum number of rows.
func buildLimit(c clause.Clause, builder clause.Builder) {
	limit, ok := c.Expression.(clause.Limit)
	stmt, isStatement := builder.(*gorm.Statement)
	fetch := ok && limit.Limit != nil && *limit.Limit >= 0
	if !ok || !isStatement || !fetch && limit.Offset <= 0 {
		return
	}
	if _, ordered := stmt.Clauses["ORDER BY"]; !ordered {
		_, _ = stmt.WriteString(anyOrder(stmt))
	}
	rows, offset := int64(0), int64(max(limit.Offset, 0))
	if fetch {
		rows = int64(*limit.Limit)
	}
	if fetch && rows == 0 {
		rows, offset = 1, math.MaxInt64
	}
	_, _ = stmt.WriteString("OFFSET ")
	stmt.AddVar(stmt, offset)
	_, _ = stmt.WriteString(" ROWS")
	if fetch {
		_, _ = stmt.WriteString(" FETCH NEXT ")
		stmt.AddVar(stmt, rows)
		_, _ = stmt.WriteString(" ROWS ONLY")
	}
}

// anyOrder returns an ORDER BY clause that permits any order. DISTINCT requires a
// selected column.
func anyOrder(stmt *gorm.Statement) string {
	if stmt.Distinct {
		return "ORDER BY 1 "
	}
	return "ORDER BY (SELECT NULL) "
}
