package outbox

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"

	"github.com/plinthgo/plinth/asyncx/job/driver"
	dbdriver "github.com/plinthgo/plinth/core/major/xdb/driver"
	"github.com/plinthgo/plinth/core/major/xdb/systable"
)

// never is the due time of a dead job.
const never = int64(1) << 61

// row is a job in the table. Times are microseconds since 1970 by the database's clock.
//
// due_us is the time from which a worker may claim the job: its scheduled time, the
// expiry of its lease, or never. A claim therefore needs only the index "due". The index
// "state" is for List.
type row struct {
	ID          string  `gorm:"column:id;primaryKey;size:36;not null;index:,composite:due,priority:3;index:,composite:state,priority:2"`
	Kind        string  `gorm:"column:kind;size:100;not null;index:,composite:due,priority:4"`
	State       string  `gorm:"column:state;size:10;not null;index:,composite:state,priority:1"`
	Priority    int64   `gorm:"column:priority;not null;index:,composite:due,priority:1"`
	DueUS       fromNow `gorm:"column:due_us;not null;index:,composite:due,priority:2"`
	RunAtUS     fromNow `gorm:"column:run_at_us;not null"`
	CreatedUS   fromNow `gorm:"column:created_us;not null"`
	Attempt     int64   `gorm:"column:attempt;not null"`
	MaxAttempts int64   `gorm:"column:max_attempts;not null"`
	Holder      *string `gorm:"column:holder;size:26"` // token of the claim
	Error       *string `gorm:"column:error;size:2000"`
	Meta        string  `gorm:"column:meta;size:4000;not null"`    // JSON
	Args        string  `gorm:"column:args;size:1048576;not null"` // JSON
}

// TableName implements schema.TablerWithNamer, so that the table prefix applies.
func (row) TableName(namer schema.Namer) string { return namer.TableName("plinth_jobs") }

// fromNow is an offset in microseconds from the database's time when the statement runs.
type fromNow int64

// GormValue implements gorm.Valuer.
func (t fromNow) GormValue(_ context.Context, db *gorm.DB) clause.Expr {
	clock, err := systable.Clock(db)
	if err != nil {
		_ = db.AddError(err)
		return clause.Expr{SQL: "NULL"}
	}
	return clause.Expr{
		SQL: clock.NowMicros() + " + ?", Vars: []any{int64(t)}, WithoutParentheses: true,
	}
}

// statements are the SQL statements for one database.
type statements struct {
	table                   string // for error messages
	snapshot, next          string
	markClaimed, read       string
	renew, holders, succeed string
	retry, discard, release string
	get, replay, remove     string
	due, kinds, order, id   string // parts of the query for candidates
	listed, ofKind          string // parts of the query of List
	columns                 string
}

// columns are the columns of a record, in the order of scan.
var columns = []string{
	"id", "kind", "state", "priority", "run_at_us", "created_us", "attempt",
	"max_attempts", "error", "meta", "args",
}

func newStatements(db *gorm.DB, clock dbdriver.Clock) (statements, error) {
	stmt := &gorm.Statement{DB: db}
	if err := stmt.Parse(&row{}); err != nil {
		return statements{}, fmt.Errorf("outbox: %w", err)
	}
	names := []string{
		"{now}", clock.NowMicros(), "{dual}", clock.Dual(),
		"{table}", stmt.Quote(stmt.Schema.Table),
	}
	for _, field := range stmt.Schema.DBNames {
		names = append(names, "{"+field+"}", stmt.Quote(field))
	}
	names = append(names, "{never}", fmt.Sprint(never),
		"{waiting}", literal(driver.Waiting), "{running}", literal(driver.Running),
		"{dead}", literal(driver.Dead))
	write := strings.NewReplacer(names...).Replace
	s := statements{
		table:   stmt.Schema.Table,
		columns: write("{" + strings.Join(columns, "}, {") + "}"),
	}
	s.writeClaims(write)
	s.writeOutcomes(write)
	s.get = write("SELECT " + s.columns + " FROM {table} WHERE {id} = ?")
	s.listed, s.ofKind = write("{state} = ? AND {id} > ?"), write("{kind} = ?")
	s.replay = write("UPDATE {table} SET {state} = {waiting}, {attempt} = 0, {due_us} = {now}, " +
		"{run_at_us} = {now} WHERE {id} = ? AND {state} = {dead}")
	s.remove = write("DELETE FROM {table} WHERE {id} = ? AND {state} IN ({waiting}, {dead})")
	return s, nil
}

// literal returns a state as an SQL literal.
func literal(s driver.State) string { return "'" + string(s) + "'" }

func (s *statements) writeClaims(write func(string) string) {
	first := make([]string, 0, priorities)
	for p := driver.MinPriority; p <= driver.MaxPriority; p++ {
		first = append(first, fmt.Sprintf(
			"(SELECT MIN({due_us}) FROM {table} WHERE {priority} = %d) AS first_%d", p, p))
	}
	s.snapshot = write("SELECT {now} AS now_us, " + strings.Join(first, ", ") + "{dual}")
	s.next = write("SELECT MIN({due_us}) AS next_us FROM {table} " +
		"WHERE {priority} = ? AND {due_us} > ?")
	s.id, s.order = write("{id}"), write("{due_us}, {id}")
	s.due, s.kinds = write("{priority} = ? AND {due_us} <= ?"), write("{kind} IN ?")
	s.markClaimed = write("UPDATE {table} SET {state} = {running}, {holder} = ?, " +
		"{attempt} = {attempt} + 1, {run_at_us} = {now}, {due_us} = {now} + ? " +
		"WHERE {id} IN ? AND {due_us} <= {now}")
	s.read = write("SELECT " + s.columns + " FROM {table} WHERE {id} IN ? AND {holder} = ?")
	s.renew = write("UPDATE {table} SET {due_us} = {now} + ? WHERE {id} IN ? AND {holder} IN ?")
	s.holders = write("SELECT {id}, {holder} FROM {table} WHERE {id} IN ?")
}

func (s *statements) writeOutcomes(write func(string) string) {
	const wait = "UPDATE {table} SET {state} = {waiting}, {holder} = NULL, " +
		"{due_us} = {now} + ?, {run_at_us} = {now} + ?, "
	s.succeed = write("DELETE FROM {table} WHERE {id} IN ? AND {holder} IN ?")
	s.retry = write(wait + "{error} = ? WHERE {id} IN ? AND {holder} = ?")
	s.release = write(wait + "{attempt} = {attempt} - 1 WHERE {id} IN ? AND {holder} = ?")
	s.discard = write("UPDATE {table} SET {state} = {dead}, {holder} = NULL, {due_us} = {never}, " +
		"{error} = ? WHERE {id} IN ? AND {holder} = ?")
}

// setUp creates the table if it does not exist, and checks its columns.
func (e *engine) setUp(ctx context.Context) error {
	if err := systable.Create(ctx, e.db, &row{}); err != nil {
		return fmt.Errorf("outbox: %w", err)
	}
	_, _, err := e.readSnapshot(ctx)
	if err == nil {
		_, err = e.Get(ctx, "-")
	}
	switch {
	case errors.Is(err, driver.ErrNotFound):
		return nil
	case dbdriver.KindOf(err) == dbdriver.Syntax:
		return fmt.Errorf("outbox: the table %s does not have the columns of a job table: %w",
			e.sql.table, err)
	default:
		return err
	}
}
