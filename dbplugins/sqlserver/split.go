package sqlserver

import "gorm.io/gorm/clause"

const (
	// maxVars limits the parameters of the rows in a statement. The server accepts 2100
	// parameters, including two for the statement text and its declarations. The
	// remaining 98 are available to other clauses.
	maxVars = 2000
	// maxRows is the server's limit for VALUES.
	maxRows = 1000
)

// split divides the rows into statements.
func (in *insert) split() []insert {
	if in.db.DryRun {
		return []insert{*in}
	}
	var parts []insert
	rows := in.values.Values
	for first := 0; len(rows) > 0; {
		n, vars := 0, 0
		for ; n < min(len(rows), maxRows); n++ {
			if vars += varsOf(rows[n]); vars > maxVars && n > 0 {
				break
			}
		}
		part := *in
		part.first, part.values.Values = first, rows[:n]
		parts = append(parts, part)
		first, rows = first+n, rows[n:]
	}
	return parts
}

// varsOf returns the number of parameters of a row.
func varsOf(row []any) int {
	n := 0
	for _, value := range row {
		if e, ok := value.(clause.Expr); ok {
			n += len(e.Vars)
		} else {
			n++
		}
	}
	return n
}
