package oracle

import (
	"database/sql"
	"reflect"

	"gorm.io/gorm"
	"gorm.io/gorm/callbacks"
	"gorm.io/gorm/clause"
)

// defaultValue stands in the values of a row for what the database fills in.
var defaultValue = clause.Expr{SQL: "DEFAULT"}

// countName is the variable of a block that counts the rows.
const countName = "plinth_rows"

// create is the callback of an insert. gorm has divided what is longer than batchSize.
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
	in := &insertion{Statement: stmt}
	if stmt.SQL.Len() == 0 { // else it is of another callback
		in.values = callbacks.ConvertToCreateValues(stmt)
		if db.Error != nil || db.AddError(in.readConflict()) != nil {
			return
		}
		in.build()
	}
	if db.DryRun || db.Error != nil {
		return
	}
	result, err := in.ConnPool.ExecContext(in.Context, in.SQL.String(), in.Vars...)
	if db.AddError(err) != nil {
		return
	}
	in.store()
	db.RowsAffected = in.count(result)
	if in.Result != nil {
		in.Result.Result, in.Result.RowsAffected = result, db.RowsAffected
	}
}

// insertion is a statement that inserts one or more rows.
type insertion struct {
	*gorm.Statement

	values   clause.Values
	conflict *clause.OnConflict // nil: a conflict is an error
	targets  []string           // the columns of the conflict

	inBlock bool // they stand in a block even if there is one
	counted bool // the block counts the rows that it has changed
	counter int64
	outs    []*out
}

// build writes an INSERT or a MERGE, or a block of several.
func (in *insertion) build() {
	in.counted = in.conflict != nil && (len(in.values.Values) > 1 || len(in.targets) == 0)
	in.inBlock = in.counted || len(in.values.Values) > 1
	var parts []string
	for i, values := range in.values.Values {
		begin := in.SQL.Len()
		in.writeRow(row{index: i, insertion: in, values: in.given(values)})
		parts = append(parts, in.SQL.String()[begin:])
	}
	in.SQL.Reset()
	if !in.inBlock {
		write(in, parts...)
		return
	}
	if in.counted {
		write(in, "DECLARE ", countName, " PLS_INTEGER := 0;\n")
	}
	write(in, "BEGIN\n")
	for _, part := range parts {
		write(in, part, ";\n")
	}
	if in.counted {
		in.AddVar(in, sql.Out{Dest: &in.counter})
		write(in, " := ", countName, ";\n")
	}
	write(in, "END;")
}

// count returns how many rows were changed. Of a block the server counts something else.
func (in *insertion) count(result sql.Result) int64 {
	switch {
	case in.counted:
		return in.counter
	case in.inBlock:
		return int64(len(in.values.Values))
	default:
		n, _ := result.RowsAffected() // the library has no error for it
		return n
	}
}

// entity returns the i-th entity of the insert, if it is one.
func (in *insertion) entity(i int) (reflect.Value, bool) {
	rv := in.ReflectValue
	if rv.IsValid() && (rv.Kind() == reflect.Slice || rv.Kind() == reflect.Array) {
		if i >= rv.Len() {
			return reflect.Value{}, false
		}
		rv = rv.Index(i)
	}
	rv = reflect.Indirect(rv)
	return rv, rv.IsValid() && rv.Kind() == reflect.Struct && in.Schema != nil
}
