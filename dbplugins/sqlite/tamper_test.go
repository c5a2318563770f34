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

// tamper says what a pool does to that which passes through it.
type tamper struct {
	query    func(string) string // changes a statement
	arg      func(any) any       // changes a parameter
	refuse   func(args []any) error
	rows     func(int64) int64 // changes the number of rows of a statement
	prepares error
	noTx     bool // a transaction is none
}

// tampering is the driver with such a pool.
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
	own, ok := db.ConnPool.(*sql.DB)
	if !ok {
		return errors.New("the driver has a pool of its own")
	}
	db.ConnPool = &pool{conns{own, d.tamper}, own}
	return nil
}

// conns is a pool, or a transaction, that tampers.
type conns struct {
	gorm.ConnPool

	tamper tamper
}

// pool is a pool of them.
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

// poolTx is a transaction of a pool.
type poolTx struct {
	conns
	gorm.TxCommitter

	tx *sql.Tx
}

func (t *poolTx) StmtContext(ctx context.Context, stmt *sql.Stmt) *sql.Stmt {
	return t.tx.StmtContext(ctx, stmt)
}

// noTx is none.
type noTx struct{ conns }

func (*noTx) Commit() error   { return nil }
func (*noTx) Rollback() error { return nil }

// pass returns what is left of a statement and its parameters.
func (c conns) pass(query string, args []any) (string, []any, error) {
	if c.tamper.refuse != nil {
		if err := c.tamper.refuse(args); err != nil {
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
	query, args, err := c.pass(query, args)
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
	query, args, err := c.pass(query, args)
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

// texts tampers with the parameters that are texts.
func texts(change func(string) string) func(any) any {
	return func(arg any) any {
		value, err := sqldriver.DefaultParameterConverter.ConvertValue(arg)
		if text, ok := value.(string); ok && err == nil {
			return change(text)
		}
		return arg
	}
}

// without takes a piece out of every statement.
func without(piece string) func(string) string {
	re := regexp.MustCompile(piece)
	return func(query string) string { return re.ReplaceAllString(query, "") }
}

func refuseBrokenTexts(args []any) error {
	for _, arg := range args {
		if text, ok := arg.(string); ok && !utf8.ValidString(text) {
			return errors.New("broken text")
		}
	}
	return nil
}

func TestTamperingPoolDoesNotPass(t *testing.T) {
	upserts := regexp.MustCompile(`DO UPDATE SET .*`)
	for _, tc := range []struct {
		name   string
		tamper tamper
		want   []string // the cases that notice
	}{
		{
			name:   "nothing",
			tamper: tamper{},
		},
		{
			name: "texts end at a NUL byte",
			tamper: tamper{arg: texts(func(s string) string {
				return strings.SplitN(s, "\x00", 2)[0]
			})},
			want: []string{"Values/NUL byte is stored or rejected"},
		},
		{
			name:   "texts change their case",
			tamper: tamper{arg: texts(strings.ToUpper)},
			want:   []string{"Types/column defaults"},
		},
		{
			name: "broken characters are replaced",
			tamper: tamper{arg: texts(func(s string) string {
				return strings.ToValidUTF8(s, "\uFFFD")
			})},
			want: []string{"Values/invalid UTF-8 is stored or rejected"},
		},
		{
			name:   "broken characters are a fault of the server",
			tamper: tamper{refuse: refuseBrokenTexts},
			want:   []string{"Values/invalid UTF-8 is stored or rejected"},
		},
		{
			name: "numbers have half of their digits",
			tamper: tamper{arg: func(arg any) any {
				if number, ok := arg.(float64); ok {
					return float64(float32(number))
				}
				return arg
			}},
			want: []string{"Types/booleans, bytes and numbers"},
		},
		{
			name: "no bytes are NULL",
			tamper: tamper{arg: func(arg any) any {
				if data, ok := arg.([]byte); ok && len(data) == 0 {
					return nil
				}
				return arg
			}},
			want: []string{"Types/NULL is no value"},
		},
		{
			name:   "texts have 4000 bytes at most",
			tamper: tamper{arg: texts(func(s string) string { return s[:min(len(s), 4000)] })},
			want:   []string{"Types/JSON in a text column", "Data/strings are stored unchanged"},
		},
		{
			name:   "keys are not told",
			tamper: tamper{query: without(" RETURNING .*")},
			want:   []string{"Types/auto-increment keys"},
		},
		{
			name: "an upsert leaves",
			tamper: tamper{query: func(query string) string {
				return upserts.ReplaceAllString(query, "DO NOTHING")
			}},
			want: []string{
				"Write/upserts a batch", "Write/upserts by primary key",
				"Write/Save creates or updates", "Data/upsert updates or skips",
			},
		},
		{
			name:   "rows are not counted",
			tamper: tamper{rows: func(n int64) int64 { return min(n, 1) }},
			want:   []string{"Write/RowsAffected counts matched rows"},
		},
		{
			name:   "a transaction is none",
			tamper: tamper{noTx: true},
			want: []string{
				"Write/serializable isolation loses no update", "Lock/row lock loses no update",
				"Transaction/rollback removes the rows",
			},
		},
		{
			name: "a thousand parameters at most",
			tamper: tamper{refuse: func(args []any) error {
				if len(args) > 1000 {
					return errors.New("too many")
				}
				return nil
			}},
			want: []string{"Query/IN list of many IDs"},
		},
		{
			name: "columns in capitals",
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
			name: "associations of all the others",
			tamper: tamper{query: func(query string) string {
				return strings.Replace(query, "`author_id` IN", "`author_id` NOT IN", 1)
			}},
			want: []string{"Query/reads associations"},
		},
		{
			name: "a limit that is one short",
			tamper: tamper{query: func(query string) string {
				return strings.Replace(query, "LIMIT 10", "LIMIT 9", 1)
			}},
			want: []string{"Query/reads row by row", "Data/offset pages are stable"},
		},
		{
			name:   "a condition that is left out",
			tamper: tamper{query: without(` OR age > .`)},
			want:   []string{"Query/named parameters"},
		},
		{
			name:   "nothing can be prepared",
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

// wantFailures complains where one of the cases passes. Without any, cases that such a
// pool can meet have to pass.
func wantFailures(t *testing.T, h dbtest.Harness, want []string) {
	t.Helper()
	if len(want) == 0 {
		for name, complaints := range dbtest.Failures(t, h, "Values/NUL byte is stored or rejected",
			"Write/Save creates or updates",
			"Write/RowsAffected counts matched rows", "Query/prepared statements",
			"Lock/row lock loses no update", "Transaction/rollback removes the rows") {
			t.Errorf("%s: %q", name, complaints)
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
