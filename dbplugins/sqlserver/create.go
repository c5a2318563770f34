package sqlserver

import (
	"reflect"

	"gorm.io/gorm"
	"gorm.io/gorm/callbacks"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"
)

// create is gorm's callback for inserts. An insert that is longer than a statement may be
// becomes several, in the transaction that gorm has begun.
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
	if stmt.SQL.Len() > 0 { // of another callback
		(&insert{db: db}).run()
		return
	}
	if whole := newInsert(db); db.Error == nil {
		runAll(db, whole.split())
	}
}

// runAll runs the parts until one fails.
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

// insert is one statement.
type insert struct {
	db       *gorm.DB
	values   clause.Values
	first    int             // which row of all its first one is
	upsert   *upsert         // nil: rows that are there already are an error
	returned []*schema.Field // what the server gives a value
}

// newInsert returns the whole of what a statement inserts.
func newInsert(db *gorm.DB) *insert {
	stmt := db.Statement
	in := &insert{db: db, values: callbacks.ConvertToCreateValues(stmt)}
	for i, column := range in.values.Columns {
		if !holdsBytes(stmt.Schema, column.Name) {
			continue
		}
		for _, row := range in.values.Values {
			row[i] = typed(row[i])
		}
	}
	if stmt.Schema != nil && !ofMaps(stmt.ReflectValue) {
		for _, field := range stmt.Schema.FieldsWithDefaultDBValue {
			if field.Readable {
				in.returned = append(in.returned, field)
			}
		}
	}
	in.upsert = newUpsert(stmt, in.values.Columns)
	return in
}

// ofMaps reports whether maps are inserted, which take no values that the server has
// made.
func ofMaps(v reflect.Value) bool {
	kind := v.Kind()
	if kind == reflect.Slice || kind == reflect.Array {
		kind = v.Type().Elem().Kind()
	}
	return kind == reflect.Map
}
