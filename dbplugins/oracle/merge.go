package oracle

import (
	sqldriver "database/sql/driver"
	"errors"
	"reflect"
	"slices"
	"strings"

	"gorm.io/gorm/clause"

	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

// excluded is gorm's name for the row to insert.
const excluded = "excluded"

// writeMerge writes
//
//	MERGE INTO "T" USING (SELECT :1 "A" FROM DUAL) "EXCLUDED" ON (...)
//	WHEN MATCHED ... WHEN NOT MATCHED ...
//
// MERGE returns no values, so generated values are not stored in the entity.
func (r row) writeMerge() {
	write(r, "MERGE INTO ")
	r.WriteQuoted(clause.Table{Name: clause.CurrentTable})
	write(r, " USING (SELECT ")
	writeEach(r, len(r.values), ",", func(i int) {
		r.writeTyped(r.values[i])
		write(r, " ", quoted(r.values[i].column))
	})
	write(r, " FROM DUAL) ", quoted(excluded), " ON (")
	writeEach(r, len(r.targets), " AND ", func(i int) {
		target := quoted(r.targets[i])
		write(r, quoted(r.Table), ".", target, " = ", quoted(excluded), ".", target)
	})
	write(r, ")")
	if set := r.updates(); len(set) > 0 {
		write(r, " WHEN MATCHED THEN UPDATE SET ")
		set.Build(r.Statement)
		if len(r.conflict.Where.Exprs) > 0 {
			write(r, " WHERE ")
			r.conflict.Where.Build(r.Statement)
		}
	}
	write(r, " WHEN NOT MATCHED THEN INSERT (", r.columns(""), ") VALUES (",
		r.columns(quoted(excluded)+"."), ")")
}

// updates returns the assignments, except those of conflict columns, which MERGE does not
// permit, and those of columns that the row does not set.
func (r row) updates() clause.Set {
	if r.conflict.DoNothing {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(r.conflict.DoUpdates), func(a clause.Assignment) bool {
		from, ok := a.Value.(clause.Column)
		if !ok || !strings.EqualFold(from.Table, excluded) {
			return false
		}
		return slices.Contains(r.targets, a.Column.Name) && from.Name == a.Column.Name ||
			!r.has(from.Name)
	})
}

// writeTyped writes a value of the source. A NULL must have the type of its column.
func (r row) writeTyped(v value) {
	if isNull(v.v) {
		write(r, r.typedNull(v.column))
		return
	}
	r.AddVar(r, v.v)
}

// isNull reports whether a value is bound as NULL.
func isNull(v any) bool {
	rv := reflect.ValueOf(v)
	if !rv.IsValid() || (rv.Kind() == reflect.Pointer || rv.Kind() == reflect.Slice) && rv.IsNil() {
		return true
	}
	if valuer, ok := v.(sqldriver.Valuer); ok {
		plain, err := valuer.Value()
		return err == nil && plain == nil
	}
	return false
}

// typedNull returns NULL with the type of a column.
func (r row) typedNull(name string) string {
	if r.Schema == nil || r.Schema.FieldsByDBName[name] == nil {
		return "NULL"
	}
	text := strings.TrimSuffix(dataType(r.Schema.FieldsByDBName[name]), identity)
	switch {
	case text == "CLOB":
		return "TO_CLOB(NULL)"
	case text == "BLOB":
		return "TO_BLOB(HEXTORAW(NULL))"
	case knownType.MatchString(text):
		return "CAST(NULL AS " + text + ")"
	default:
		return "NULL"
	}
}

var (
	errOnConstraint = errors.New(
		"oracle: clause.OnConflict: OnConstraint is not supported: set Columns")
	errTargetWhere = errors.New(
		"oracle: clause.OnConflict: TargetWhere is not supported: remove it")
	errNoTarget = errors.New(
		"oracle: clause.OnConflict: an update requires Columns or a primary key")
	errNoColumn = errors.New("oracle: an insert requires at least one column")
)

// readConflict reads the ON CONFLICT clause.
func (in *insertion) readConflict() error {
	conflict, ok := in.Clauses["ON CONFLICT"].Expression.(clause.OnConflict)
	if !ok {
		return nil
	}
	in.conflict = &conflict
	switch {
	case conflict.OnConstraint != "":
		return errOnConstraint
	case len(conflict.TargetWhere.Exprs) > 0:
		return errTargetWhere
	}
	for _, c := range conflict.Columns {
		in.targets = append(in.targets, driver.ColumnName(in.Statement, c.Name))
	}
	if len(in.targets) == 0 && !conflict.DoNothing && in.Schema != nil {
		for _, field := range in.Schema.PrimaryFields {
			in.targets = append(in.targets, field.DBName)
		}
	}
	if len(in.targets) == 0 && !conflict.DoNothing {
		return errNoTarget
	}
	return nil
}
