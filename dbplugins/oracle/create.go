package oracle

import (
	"database/sql"
	"reflect"
	"slices"

	"gorm.io/gorm"
	"gorm.io/gorm/callbacks"
	"gorm.io/gorm/clause"
)

// defaultValue stands in the values of a row for what the database fills in.
var defaultValue = clause.Expr{SQL: "DEFAULT"}

const (
	// countName is the variable of a block that counts the rows.
	countName = "plinth_rows"

	// maxRows and maxBinds bound a block, which has to be compiled as a whole: that takes
	// the longer the more it holds, and PL/SQL has no more than 32768 binds. Some columns
	// of an upsert or of RETURNING are bound twice.
	maxRows, maxBinds = 100, 10_000
)

// create is the callback of an insert. One that is longer than a block may be becomes
// several, in the transaction that gorm has begun.
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
	in := insertion{Statement: stmt}
	if stmt.SQL.Len() > 0 { // it is of another callback
		db.RowsAffected = in.run(db)
		return
	}
	in.values = callbacks.ConvertToCreateValues(stmt)
	if db.Error == nil && db.AddError(in.readConflict()) == nil {
		in.runAll(db)
	}
}

// runAll builds and runs a statement for as many rows as one takes, until all are
// inserted or one fails.
func (in *insertion) runAll(db *gorm.DB) {
	all, affected := in.values.Values, int64(0)
	for rows := range slices.Chunk(all, in.blockRows()) {
		if in.first > 0 {
			in.SQL.Reset()
			in.Vars = nil
		}
		part := *in
		part.values.Values = rows
		part.build()
		affected += part.run(db)
		if db.Error != nil {
			return
		}
		in.first += len(rows)
	}
	db.RowsAffected = affected
	if in.Result != nil {
		in.Result.RowsAffected = affected
	}
}

// blockRows is how many rows stand in one statement.
func (in *insertion) blockRows() int {
	if in.DryRun { // which shows one statement
		return max(1, len(in.values.Values))
	}
	return min(maxRows, max(1, maxBinds/max(1, len(in.values.Columns))))
}

// run runs the statement, and returns how many rows it has changed.
func (in *insertion) run(db *gorm.DB) int64 {
	if db.DryRun || db.Error != nil {
		return 0
	}
	result, err := in.ConnPool.ExecContext(in.Context, in.SQL.String(), in.Vars...)
	if db.AddError(err) != nil {
		return 0
	}
	in.store()
	if in.Result != nil {
		in.Result.Result = result
	}
	return in.count(result)
}

// insertion is a statement that inserts one or more rows.
type insertion struct {
	*gorm.Statement

	values   clause.Values      // of its rows
	first    int                // which row of all the first one is
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
		in.writeRow(row{index: in.first + i, insertion: in, values: in.given(values)})
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
