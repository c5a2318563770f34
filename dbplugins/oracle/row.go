package oracle

import (
	"strings"

	"gorm.io/gorm/clause"
)

// value is the value of one column of a row.
type value struct {
	column string
	v      any
}

// explicit returns the values of a row except those that the database sets.
func (in *insertion) explicit(values []any) []value {
	explicit := make([]value, 0, len(values))
	for i, v := range values {
		if e, ok := v.(clause.Expr); ok && e.SQL == defaultValue.SQL && len(e.Vars) == 0 {
			continue
		}
		explicit = append(explicit, value{in.values.Columns[i].Name, v})
	}
	return explicit
}

// row is a row to write.
type row struct {
	*insertion

	index  int
	values []value
}

func (r row) has(column string) bool {
	for _, v := range r.values {
		if v.column == column {
			return true
		}
	}
	return false
}

// hasTargets reports whether the row sets all conflict columns.
func (r row) hasTargets() bool {
	for _, target := range r.targets {
		if !r.has(target) {
			return false
		}
	}
	return len(r.targets) > 0
}

func (in *insertion) writeRow(r row) {
	switch {
	case in.conflict == nil:
		r.writeInsert()
	case len(in.targets) == 0:
		write(in, "BEGIN ")
		r.writeInsert()
		write(in, "; ", countName, " := ",
			countName, " + SQL%ROWCOUNT; EXCEPTION WHEN DUP_VAL_ON_INDEX THEN NULL; END")
	case r.hasTargets():
		r.writeMerge()
		in.writeCount()
	default:
		r.writeInsert()
		in.writeCount()
	}
}

func (in *insertion) writeCount() {
	if in.counted {
		write(in, "; ", countName, " := ", countName, " + SQL%ROWCOUNT")
	}
}

// writeInsert writes an INSERT, with RETURNING for generated fields.
func (r row) writeInsert() {
	write(r, "INSERT INTO ")
	r.WriteQuoted(clause.Table{Name: clause.CurrentTable})
	if len(r.values) == 0 {
		if r.Schema == nil || len(r.Schema.DBNames) == 0 {
			_ = r.AddError(errNoColumn)
			return
		}
		write(r, " (", quoted(r.Schema.DBNames[0]), ") VALUES (DEFAULT)")
	} else {
		write(r, " (", r.columns(""), ") VALUES (")
		writeEach(r, len(r.values), ",", func(i int) { r.AddVar(r, r.values[i].v) })
		write(r, ")")
	}
	r.writeReturning()
}

// columns returns the column names of the row, each with a prefix.
func (r row) columns(prefix string) string {
	names := make([]string, len(r.values))
	for i, v := range r.values {
		names[i] = prefix + quoted(v.column)
	}
	return strings.Join(names, ",")
}
