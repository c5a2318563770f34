package sqlserver

import (
	"reflect"

	"gorm.io/gorm"
	"gorm.io/gorm/callbacks"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"
)

// create is gorm's create callback. It splits an insert that exceeds the limits of a
// statement into several statements of the same transaction.
func create(db *gorm.DB) {
	if db.Error != nil {
		return
	}
	stmt := db.Statement
	if stmt.Schema != nil && !stmt.Unscoped {
		for _, c := range stmt.Schema.CreateClauses {
			stmt.AddClause(c)
		}
	}
	if stmt.SQL.Len() > 0 { // built by another callback
		(&insert{db: db}).run()
		return
	}
	if whole := newInsert(db); db.Error == nil {
		runAll(db, whole.split())
	}
}

// runAll runs the statements until one fails.
func runAll(db *gorm.DB, parts []insert) {
	var affected int64
	for i := range parts {
		db.Statement.SQL.Reset()
		db.Statement.Vars = nil
		parts[i].build()
		parts[i].run()
		if db.Error != nil {
			db.RowsAffected = 0
			return
		}
		affected += db.RowsAffected
	}
	db.RowsAffected = affected
	if r := db.Statement.Result; r != nil {
		r.RowsAffected = affected
	}
}

// insert is an insert statement.
type insert struct {
	db       *gorm.DB
	values   clause.Values
	first    int             // index of the first row among all rows
	upsert   *upsert         // nil if a conflict is an error
	returned []*schema.Field // fields that the server sets
}

// newInsert returns an insert of all rows.
func newInsert(db *gorm.DB) *insert {
	stmt := db.Statement
	in := &insert{db: db, values: callbacks.ConvertToCreateValues(stmt)}
	for i, column := range in.values.Columns {
		if !isBinary(stmt.Schema, column.Name) {
			continue
		}
		for _, row := range in.values.Values {
			row[i] = binaryValue(row[i])
		}
	}
	if stmt.Schema != nil && !containsMaps(stmt.ReflectValue) {
		for _, field := range stmt.Schema.FieldsWithDefaultDBValue {
			if field.Readable {
				in.returned = append(in.returned, field)
			}
		}
	}
	in.upsert = newUpsert(stmt, in.values.Columns)
	return in
}

// containsMaps reports whether v contains maps, which do not receive values that the
// server sets.
func containsMaps(v reflect.Value) bool {
	kind := v.Kind()
	if kind == reflect.Slice || kind == reflect.Array {
		kind = v.Type().Elem().Kind()
	}
	return kind == reflect.Map
}
