package oracle

import (
	"database/sql"
	"errors"
	"reflect"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/callbacks"
	"gorm.io/gorm/clause"

	"github.com/plinthgo/plinth/core/major/xdb/driver"
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

var (
	errOnConstraint = errors.New("oracle: ON CONFLICT names columns, not a constraint: set clause.OnConflict.Columns")
	errTargetWhere  = errors.New("oracle: ON CONFLICT has no condition for its columns: leave TargetWhere out")
	errNoTarget     = errors.New("oracle: ON CONFLICT that updates needs columns, or a primary key")
	errNoColumn     = errors.New("oracle: an insert needs a column")
)

// readConflict reads the clause ON CONFLICT.
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

// next returns what inserts the rows that the statement has not taken, nil where it has
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

// value is what a row gives for one column.
type value struct {
	column string
	v      any
}

// given returns the values of a row without those that the database is to fill in.
func (in *insertion) given(values []any) []value {
	given := make([]value, 0, len(values))
	for i, v := range values {
		if e, ok := v.(clause.Expr); ok && e.SQL == defaultValue.SQL && len(e.Vars) == 0 {
			continue
		}
		given = append(given, value{in.values.Columns[i].Name, v})
	}
	return given
}

// row is a row that is to be written.
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

// hasTargets reports whether the row can be in conflict: it gives a value for each of the
// columns.
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
		write(in, "; ", countName, " := ", countName, " + SQL%ROWCOUNT; EXCEPTION WHEN DUP_VAL_ON_INDEX THEN NULL; END")
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

// writeInsert writes INSERT, and RETURNING where the database fills something in.
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
		for i, v := range r.values {
			if i > 0 {
				write(r, ",")
			}
			r.AddVar(r, v.v)
		}
		write(r, ")")
	}
	r.writeReturning()
}

// columns returns the columns of the row, each behind a prefix.
func (r row) columns(prefix string) string {
	names := make([]string, len(r.values))
	for i, v := range r.values {
		names[i] = prefix + quoted(v.column)
	}
	return strings.Join(names, ",")
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
