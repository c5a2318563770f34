package sqlite_test

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/conformance/dbtest"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
	"github.com/plinthgo/plinth/dbplugins/sqlite"
)

// tamper describes the faults of a pool.
type tamper struct {
	query    func(string) string // changes a statement
	arg      func(any) any       // changes a parameter
	reject   func(args []any) error
	rows     func(int64) int64 // changes the number of affected rows
	prepares error
	noTx     bool // ignores transactions
}

// tampering returns the driver with a faulty pool.
func tampering(t tamper) driver.Driver {
	return broken{dialector: func(dsn string) gorm.Dialector {
		return tampered{dialect{sqlite.Driver{}.Dialector(dsn)}, t}
	}}
}

type tampered struct {
	dialect

	tamper tamper
}

func (d tampered) Initialize(db *gorm.DB) error {
	if err := d.dialect.Initialize(db); err != nil {
		return err
	}
	inner, ok := db.ConnPool.(*sql.DB)
	if !ok {
		return errors.New("the pool of the driver is not a *sql.DB")
	}
	db.ConnPool = &pool{conns{inner, d.tamper}, inner}
	return nil
}

// conns is a faulty pool or transaction.
type conns struct {
	gorm.ConnPool

	tamper tamper
}

type pool struct {
	conns

	db *sql.DB
}

func (p *pool) GetDBConn() (*sql.DB, error) { return p.db, nil }

func (p *pool) BeginTx(ctx context.Context, opts *sql.TxOptions) (gorm.ConnPool, error) {
	if p.tamper.noTx {
		return &noTx{p.conns}, nil
	}
	tx, err := p.db.BeginTx(ctx, opts)
	if err != nil {
		return nil, err
	}
	return &poolTx{conns{tx, p.tamper}, tx, tx}, nil
}

// poolTx is a transaction of a faulty pool.
type poolTx struct {
	conns
	gorm.TxCommitter

	tx *sql.Tx
}

func (t *poolTx) StmtContext(ctx context.Context, stmt *sql.Stmt) *sql.Stmt {
	return t.tx.StmtContext(ctx, stmt)
}

// noTx is a transaction without effect.
type noTx struct{ conns }

func (*noTx) Commit() error   { return nil }
func (*noTx) Rollback() error { return nil }

// change returns the changed statement and parameters.
func (c conns) change(query string, args []any) (string, []any, error) {
	if c.tamper.reject != nil {
		if err := c.tamper.reject(args); err != nil {
			return "", nil, err
		}
	}
	if c.tamper.query != nil {
		query = c.tamper.query(query)
	}
	changed := make([]any, len(args))
	for i, arg := range args {
		if changed[i] = arg; c.tamper.arg != nil {
			changed[i] = c.tamper.arg(arg)
		}
	}
	return query, changed, nil
}

func (c conns) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	query, args, err := c.change(query, args)
	if err != nil {
		return nil, err
	}
	r, err := c.ConnPool.ExecContext(ctx, query, args...)
	if err != nil || c.tamper.rows == nil {
		return r, err
	}
	return result{r, c.tamper.rows}, nil
}

func (c conns) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	query, args, err := c.change(query, args)
	if err != nil {
		return nil, err
	}
	return c.ConnPool.QueryContext(ctx, query, args...)
}

func (c conns) PrepareContext(ctx context.Context, query string) (*sql.Stmt, error) {
	if c.tamper.prepares != nil {
		return nil, c.tamper.prepares
	}
	return c.ConnPool.PrepareContext(ctx, query)
}

type result struct {
	sql.Result

	rows func(int64) int64
}

func (r result) RowsAffected() (int64, error) {
	n, err := r.Result.RowsAffected()
	return r.rows(n), err
}

// stringArgs changes string parameters.
func stringArgs(change func(string) string) func(any) any {
	return func(arg any) any {
		value, err := sqldriver.DefaultParameterConverter.ConvertValue(arg)
		if text, ok := value.(string); ok && err == nil {
			return change(text)
		}
		return arg
	}
}

// without removes the matches of a pattern from every statement.
func without(pattern string) func(string) string {
	re := regexp.MustCompile(pattern)
	return func(query string) string { return re.ReplaceAllString(query, "") }
}

func rejectInvalidUTF8(args []any) error {
	for _, arg := range args {
		if text, ok := arg.(string); ok && !utf8.ValidString(text) {
			return errors.New("invalid UTF-8")
		}
	}
	return nil
}

func TestRun_TamperingPools(t *testing.T) {
	upserts := regexp.MustCompile(`DO UPDATE SET .*`)
	for _, tc := range []struct {
		name   string
		tamper tamper
		want   []string // the checks that must fail
	}{
		{name: "no fault", tamper: tamper{}},
		{
			name: "strings are truncated at a NUL byte",
			tamper: tamper{arg: stringArgs(func(s string) string {
				return strings.SplitN(s, "\x00", 2)[0]
			})},
			want: []string{"Values/NUL byte is stored or rejected"},
		},
		{
			name:   "strings change their case",
			tamper: tamper{arg: stringArgs(strings.ToUpper)},
			want:   []string{"Types/column defaults"},
		},
		{
			name: "invalid UTF-8 is replaced",
			tamper: tamper{arg: stringArgs(func(s string) string {
				return strings.ToValidUTF8(s, "\uFFFD")
			})},
			want: []string{"Values/invalid UTF-8 is stored or rejected"},
		},
		{
			name:   "invalid UTF-8 is a server error",
			tamper: tamper{reject: rejectInvalidUTF8},
			want:   []string{"Values/invalid UTF-8 is stored or rejected"},
		},
		{
			name: "numbers lose half of their digits",
			tamper: tamper{arg: func(arg any) any {
				if number, ok := arg.(float64); ok {
					return float64(float32(number))
				}
				return arg
			}},
			want: []string{"Types/booleans, bytes and numbers"},
		},
		{
			name: "empty bytes are NULL",
			tamper: tamper{arg: func(arg any) any {
				if data, ok := arg.([]byte); ok && len(data) == 0 {
					return nil
				}
				return arg
			}},
			want: []string{"Types/NULL is no value"},
		},
		{
			name:   "strings are limited to 4000 bytes",
			tamper: tamper{arg: stringArgs(func(s string) string { return s[:min(len(s), 4000)] })},
			want:   []string{"Types/JSON in a text column", "Data/strings are stored unchanged"},
		},
		{
			name:   "generated keys are missing",
			tamper: tamper{query: without(" RETURNING .*")},
			want:   []string{"Types/auto-increment keys"},
		},
		{
			name: "upsert does not update",
			tamper: tamper{query: func(query string) string {
				return upserts.ReplaceAllString(query, "DO NOTHING")
			}},
			want: []string{
				"Write/upserts a batch", "Write/upserts by primary key",
				"Write/Save creates or updates", "Data/upsert updates or skips",
			},
		},
		{
			name:   "affected rows are not counted",
			tamper: tamper{rows: func(n int64) int64 { return min(n, 1) }},
			want:   []string{"Write/RowsAffected counts matched rows"},
		},
		{
			name:   "transactions have no effect",
			tamper: tamper{noTx: true},
			want: []string{
				"Write/serializable isolation loses no update", "Lock/row lock loses no update",
				"Transaction/rollback removes the rows",
			},
		},
		{
			name: "limit of 1000 parameters",
			tamper: tamper{reject: func(args []any) error {
				if len(args) > 1000 {
					return errors.New("too many")
				}
				return nil
			}},
			want: []string{"Query/IN list of many IDs"},
		},
		{
			name: "columns in upper case",
			tamper: tamper{query: func(query string) string {
				return strings.Replace(query, "`name`,`age`,", "`name` AS NAME,`age`,", 1)
			}},
			want: []string{"Query/maps have column names as keys"},
		},
		{
			name:   "patterns without an escape",
			tamper: tamper{query: without(` ESCAPE '!'`)},
			want:   []string{"Query/LIKE with ESCAPE"},
		},
		{
			name:   "columns without an alias",
			tamper: tamper{query: without(` AS (total|writer_name)`)},
			want:   []string{"Query/groups and counts", "Query/aliases map to struct fields"},
		},
		{
			name: "associations of all entities",
			tamper: tamper{query: func(query string) string {
				return strings.Replace(query, "`author_id` IN", "`author_id` NOT IN", 1)
			}},
			want: []string{"Query/reads associations"},
		},
		{
			name: "limit is one too small",
			tamper: tamper{query: func(query string) string {
				return strings.Replace(query, "LIMIT 10", "LIMIT 9", 1)
			}},
			want: []string{"Query/reads row by row", "Data/offset pages are stable"},
		},
		{
			name:   "missing condition",
			tamper: tamper{query: without(` OR age > .`)},
			want:   []string{"Query/named parameters"},
		},
		{
			name:   "statements cannot be prepared",
			tamper: tamper{prepares: errors.New("not prepared")},
			want:   []string{"Query/prepared statements"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			h := harness()
			h.Driver = tampering(tc.tamper)
			wantFailures(t, h, tc.want)
		})
	}
}

// wantFailures checks that the checks in want fail. If want is empty, it checks that the
// checks that a faulty pool can affect pass.
func wantFailures(t *testing.T, h dbtest.Harness, want []string) {
	t.Helper()
	if len(want) == 0 {
		for name, failures := range dbtest.Failures(t, h,
			"Values/NUL byte is stored or rejected", "Write/Save creates or updates",
			"Write/RowsAffected counts matched rows", "Query/prepared statements",
			"Lock/row lock loses no update", "Transaction/rollback removes the rows") {
			t.Errorf("%s: %q", name, failures)
		}
		return
	}
	got := dbtest.Failures(t, h, want...)
	for _, name := range want {
		if len(got[name]) == 0 {
			t.Errorf("%s passed", name)
		}
	}
	t.Log(got)
}
