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

const (
	// countName is the variable of a block that counts the rows.
	countName = "plinth_rows"

	// maxRows and maxBinds end a block, which has to be compiled as a whole: that takes
	// the longer the more it holds, and PL/SQL has no more than 32768 binds.
	maxRows, maxBinds = 100, 10_000
)

// create is the callback of an insert. One that is longer than a block may be becomes
// several in one transaction.
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
	if _, inTx := stmt.ConnPool.(gorm.TxCommitter); inTx || in.next() == nil {
		in.runAll(db)
		return
	}
	in.runInTransaction(db)
}

// runInTransaction is runAll, all or nothing.
func (in *insertion) runInTransaction(db *gorm.DB) {
	stmt := in.Statement
	pool := stmt.ConnPool
	err := db.Session(&gorm.Session{NewDB: true}).Transaction(func(tx *gorm.DB) error {
		stmt.ConnPool = tx.Statement.ConnPool
		defer func() { stmt.ConnPool = pool }()
		in.runAll(db)
		return db.Error
	})
	if db.Error == nil && db.AddError(err) != nil { // of the commit
		db.RowsAffected = 0
	}
}

// runAll runs the statement, which is built, and those for the rows that are left, until
// one fails.
func (in *insertion) runAll(db *gorm.DB) {
	affected := in.run(db)
	for rest := in.next(); rest != nil && db.Error == nil; rest = rest.next() {
		rest.SQL.Reset()
		rest.Vars = nil
		rest.build()
		affected += rest.run(db)
	}
	if db.Error != nil {
		affected = 0
	}
	db.RowsAffected = affected
	if in.Result != nil {
		in.Result.RowsAffected = affected
	}
}

// run runs the statement, and returns how many rows it has changed.
func (in *insertion) run(db *gorm.DB) int64 {
	if db.Error != nil {
		return 0
	}
	result, err := in.ConnPool.ExecContext(in.Context, in.SQL.String(), in.Vars...)
	if db.AddError(err) != nil {
		return 0
	}
	if in.Result != nil {
		in.Result.Result = result
	}
	in.store()
	return in.count(result)
}

// insertion is one statement that inserts one or more rows.
type insertion struct {
	*gorm.Statement

	values   clause.Values      // of all rows that are left
	first    int                // which row of all the first one is
	rows     int                // how many of them the statement has taken
	conflict *clause.OnConflict // nil: a conflict is an error
	targets  []string           // the columns of the conflict

	inBlock bool // they stand in a block even if there is one
	counted bool // the block counts the rows that it has changed
	counter int64
	outs    []*out
}

// next returns what inserts the rows that the statement has not taken, nil if it has
// taken all.
func (in *insertion) next() *insertion {
	if in.rows == len(in.values.Values) {
		return nil
	}
	rest := &insertion{Statement: in.Statement, conflict: in.conflict, targets: in.targets, first: in.first + in.rows}
	rest.values = clause.Values{Columns: in.values.Columns, Values: in.values.Values[in.rows:]}
	return rest
}

// full reports whether a block takes no further row.
func (in *insertion) full() bool {
	return !in.DryRun && (in.rows == maxRows || len(in.Vars) >= maxBinds)
}

// build writes a statement for as many rows as one takes: an INSERT or a MERGE, or a
// block of several.
func (in *insertion) build() {
	in.counted = in.conflict != nil && (len(in.values.Values) > 1 || len(in.targets) == 0)
	in.inBlock = in.counted
	var parts []string
	for i, values := range in.values.Values {
		begin := in.SQL.Len()
		in.writeRow(row{index: in.first + i, insertion: in, values: in.given(values)})
		parts = append(parts, in.SQL.String()[begin:])
		if in.rows++; in.full() {
			break
		}
	}
	in.SQL.Reset()
	if len(parts) == 1 && !in.inBlock {
		write(in, parts[0])
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
	case in.rows > 1 || in.inBlock:
		return int64(in.rows)
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
