package oracle

import (
	"database/sql"
	"reflect"
	"slices"

	"gorm.io/gorm"
	"gorm.io/gorm/callbacks"
	"gorm.io/gorm/clause"
)

// defaultValue marks values of a row that the database sets.
var defaultValue = clause.Expr{SQL: "DEFAULT"}

const (
	// countName is the PL/SQL variable that counts the rows.
	countName = "plinth_rows"

	// maxRows and maxBinds limit a PL/SQL block, whose compile time grows with its size.
	// PL/SQL permits 32768 binds, and some columns of an upsert or RETURNING are bound
	// twice.
	maxRows, maxBinds = 100, 10_000
)

// create is gorm's create callback. It splits a long insert into several blocks of the
// same transaction.
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
	if stmt.SQL.Len() > 0 { // built by another callback
		db.RowsAffected = in.run(db)
		return
	}
	in.values = callbacks.ConvertToCreateValues(stmt)
	if db.Error == nil && db.AddError(in.readConflict()) == nil {
		in.runAll(db)
	}
}

// runAll inserts the rows block by block until all are inserted or one block fails.
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

// blockRows returns the number of rows per statement.
func (in *insertion) blockRows() int {
	if in.DryRun { // a dry run shows one statement
		return max(1, len(in.values.Values))
	}
	return min(maxRows, max(1, maxBinds/max(1, len(in.values.Columns))))
}

// run executes the statement and returns the number of affected rows.
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

// insertion is an insert of one or more rows.
type insertion struct {
	*gorm.Statement

	values   clause.Values      // of the rows
	first    int                // index of the first row among all rows
	conflict *clause.OnConflict // nil if a conflict is an error
	targets  []string           // the columns of the conflict clause

	inBlock bool // use a block even for one row
	counted bool // the block counts the affected rows
	counter int64
	outs    []*out
}

// build writes an INSERT, a MERGE, or a block that contains several of them.
func (in *insertion) build() {
	in.counted = in.conflict != nil && (len(in.values.Values) > 1 || len(in.targets) == 0)
	in.inBlock = in.counted || len(in.values.Values) > 1
	var parts []string
	for i, values := range in.values.Values {
		begin := in.SQL.Len()
		in.writeRow(row{index: in.first + i, insertion: in, values: in.explicit(values)})
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

// count returns the number of affected rows. For a block, the row count of the server is
// not the number of affected rows.
func (in *insertion) count(result sql.Result) int64 {
	switch {
	case in.counted:
		return in.counter
	case in.inBlock:
		return int64(len(in.values.Values))
	default:
		n, _ := result.RowsAffected() // the library returns no error
		return n
	}
}

// entity returns the i-th entity of the insert. It returns false if the insert has no
// entity, such as for maps.
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
