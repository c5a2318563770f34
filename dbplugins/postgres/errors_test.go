package postgres_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
	"github.com/plinthgo/plinth/dbplugins/postgres"
)

func TestDriver_ErrorKind(t *testing.T) {
	for _, tc := range []struct {
		codes string
		want  driver.ErrorKind
	}{
		{codes: "23505 23P01", want: driver.Unique},
		{codes: "23503 23001", want: driver.ForeignKey},
		{codes: "23514 23000 44000", want: driver.Check},
		{codes: "23502", want: driver.NotNull},
		{codes: "22001 22026 54000", want: driver.TooLong},
		{codes: "22003 22008 22009 22012 22015 22P01", want: driver.OutOfRange},
		{codes: "22P02 22P03 22P05 22021 22007 22000", want: driver.Malformed},
		{codes: "40001 40P01", want: driver.Deadlock},
		{codes: "55P03", want: driver.LockTimeout},
		{codes: "57014", want: driver.Canceled},
		{
			codes: "08000 08001 08003 08006 57P01 57P02 57P03 57P05 53000 53200 25P03 25P04",
			want:  driver.Connection,
		},
		{codes: "53300", want: driver.TooManyConnections},
		{codes: "28000 28P01 42501", want: driver.Authentication},
		{codes: "3D000 57P04", want: driver.UnknownDatabase},
		{codes: "25006", want: driver.ReadOnly},
		{codes: "53100", want: driver.Full},
		{codes: "42601 42P01 42703 42883 42P05 26000 3F000 0A000 08P01 25000 25001 25P01 25P02 54001 54011 54023", want: driver.Syntax},
		{codes: "XX000 P0001 22023 55000 2 99999", want: driver.Unknown},
	} {
		for code := range strings.FieldsSeq(tc.codes) {
			err := fmt.Errorf("wrapped: %w", &pgconn.PgError{Code: code})
			if got := (postgres.Driver{}).ErrorKind(err); got != tc.want {
				t.Errorf("%s is %q, want %q", code, got, tc.want)
			}
		}
	}
}

func TestDriver_ErrorKind_Library(t *testing.T) {
	for _, tc := range []struct {
		name string
		err  error
		want driver.ErrorKind
	}{
		{name: "nil", want: driver.Unknown},
		{
			name: "stale plan",
			err:  &pgconn.PgError{Code: "0A000", Routine: "RevalidateCachedQuery"},
			want: driver.Deadlock,
		},
		{name: "closed", err: fmt.Errorf("x: %w", pgconn.ErrConnClosed), want: driver.Connection},
		{
			name: "connection refused",
			err:  &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, want: driver.Unknown,
		},
		{name: "unexpected EOF", err: io.ErrUnexpectedEOF, want: driver.Unknown},
		{
			name: "commit of a failed transaction",
			err:  fmt.Errorf("x: %w", pgx.ErrTxCommitRollback), want: driver.Syntax,
		},
		{
			name: "too many parameters",
			err:  errors.New("extended protocol limited to 65535 parameters"), want: driver.Syntax,
		},
		{name: "other error", err: errors.New("x"), want: driver.Unknown},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := (postgres.Driver{}).ErrorKind(tc.err); got != tc.want {
				t.Errorf("kind = %q, want %q", got, tc.want)
			}
		})
	}
}

func TestDialector_Translate(t *testing.T) {
	const secret = "hunter 2"
	d := postgres.Driver{}.Dialector("").(gorm.ErrorTranslator)
	for _, tc := range []struct {
		name string
		err  *pgconn.PgError
		want string
	}{
		{
			name: "unique", err: &pgconn.PgError{
				Code: "23505", ConstraintName: "uq",
				Detail: "Key (a)=(hunter 2) already exists.",
			},
			want: "unique constraint violated: uq",
		},
		{
			name: "not null", err: &pgconn.PgError{
				Code: "23502", TableName: "t", ColumnName: "c",
				Detail: "Failing row contains (hunter 2).",
			},
			want: "not-null constraint violated: t.c",
		},
		{
			name: "not null of a domain",
			err:  &pgconn.PgError{Code: "23502", Message: "domain d does not allow null values"},
			want: "not-null constraint violated",
		},
		{
			name: "malformed", err: &pgconn.PgError{
				Code:    "22P02",
				Message: `invalid input syntax for type integer: "hunter 2"`,
			},
			want: "value not valid for its column: SQLSTATE 22P02",
		},
		{
			name: "syntax", err: &pgconn.PgError{
				Code:    "42601",
				Message: `syntax error at or near "'hunter 2'"`, Position: 8,
			},
			want: "invalid statement: syntax error at character 8",
		},
		{
			name: "syntax, in German", err: &pgconn.PgError{
				Code:    "42601",
				Message: `Syntaxfehler bei »'hunter 2'«`, Position: 8,
			},
			want: "invalid statement: syntax error at character 8",
		},
		{
			name: "column", err: &pgconn.PgError{
				Code:    "42703",
				Message: `column "shade" of relation "plinth_users" does not exist`, Position: 9,
			},
			want: `invalid statement: column "shade" of relation "plinth_users" does not exist at character 9`,
		},
		{
			name: "literal parsed as a column",
			err:  &pgconn.PgError{Code: "42703", Message: `column "hunter 2" does not exist`},
			want: `invalid statement: column "…" does not exist`,
		},
		{
			name: "quote in a name",
			err:  &pgconn.PgError{Code: "42703", Message: `column "x"hunter 2" does not exist`},
			want: "invalid statement: SQLSTATE 42703",
		},
		{
			name: "deadlock", err: &pgconn.PgError{
				Code: "40P01", Message: "deadlock detected",
				Detail: "Process 1: UPDATE x SET y = 'hunter 2'",
			},
			want: "transaction aborted: deadlock or serialization failure: deadlock detected",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := d.Translate(tc.err)
			if got := err.Error(); got != tc.want || strings.Contains(got, secret) {
				t.Errorf("text = %q, want %q", got, tc.want)
			}
			if !errors.Is(err, tc.err) {
				t.Error("the error does not wrap the server's error")
			}
		})
	}
}

func TestDialector_Translate_Transaction(t *testing.T) {
	_, config := find(t)
	db := open(t, xdb.Options{Parts: config})
	for _, tc := range []struct {
		name string
		run  func(tx *gorm.DB) error
		want string
	}{
		{
			name: "aborted",
			run: func(tx *gorm.DB) error {
				tx.Exec("SELECT no_such_column")
				return tx.Exec("SELECT 1").Error
			},
			want: "invalid statement: current transaction is aborted, commands ignored until end of transaction block",
		},
		{
			name: "commit after an error",
			run: func(tx *gorm.DB) error {
				tx.Exec("SELECT no_such_column")
				return nil
			},
			want: "invalid statement: commit unexpectedly resulted in rollback",
		},
		{
			name: "too many parameters",
			run: func(tx *gorm.DB) error {
				return tx.Exec("SELECT 1 WHERE 1 IN ?", slices.Repeat([]int{1}, 1<<16)).Error
			},
			want: "invalid statement: extended protocol limited to 65535 parameters",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if err := db.Transaction(tc.run); driver.KindOf(err) != driver.Syntax ||
				err.Error() != tc.want {
				t.Errorf("error = %q of kind %q, want %q", err, driver.KindOf(err), tc.want)
			}
		})
	}
}

func TestDialector_Translate_Server(t *testing.T) {
	_, config := find(t)
	db := open(t, xdb.Options{Parts: config})
	for _, tc := range []struct {
		name string
		sql  string
		args []any
		want driver.ErrorKind
	}{
		{
			name: "not a number", sql: "SELECT ?::int",
			args: []any{"secret"}, want: driver.Malformed,
		},
		{
			name: "not a time", sql: "SELECT ?::timestamptz",
			args: []any{"secret"}, want: driver.Malformed,
		},
		{
			name: "not a UUID", sql: "SELECT ?::uuid",
			args: []any{"secret"}, want: driver.Malformed,
		},
		{
			name: "not JSON", sql: "SELECT ?::jsonb",
			args: []any{"secret"}, want: driver.Malformed,
		},
		{
			name: "NUL byte", sql: "SELECT ?::text",
			args: []any{"secret\x00"}, want: driver.Malformed,
		},
		{
			name: "invalid UTF-8", sql: "SELECT ?::text",
			args: []any{"secret\xff"}, want: driver.Malformed,
		},
		{
			name: "type that cannot be encoded", sql: "SELECT ?::int",
			args: []any{struct{ Secret int }{}}, want: driver.Malformed,
		},
		{
			name: "number too large to encode", sql: "SELECT ?::int",
			args: []any{int64(1) << 40}, want: driver.OutOfRange,
		},
		{
			name: "number too small to encode", sql: "SELECT ?::smallint",
			args: []any{-1 << 20}, want: driver.OutOfRange,
		},
		{
			name: "number too large for any column", sql: "SELECT ?::bigint",
			args: []any{uint64(1) << 63}, want: driver.OutOfRange,
		},
		{
			name: "number too large", sql: "SELECT ?::int",
			args: []any{"1099511627776"}, want: driver.OutOfRange,
		},
		{
			name: "numeric too large", sql: "SELECT ?::numeric(3, 1)",
			args: []any{"1234.5"}, want: driver.OutOfRange,
		},
		{
			name: "date too late", sql: "SELECT ?::date",
			args: []any{"5874898-01-01"}, want: driver.OutOfRange,
		},
		{
			name: "lock_timeout",
			sql:  "DO $$ BEGIN RAISE lock_not_available USING MESSAGE = 'x'; END $$",
			want: driver.LockTimeout,
		},
		{
			name: "check of a trigger",
			sql:  "DO $$ BEGIN RAISE check_violation USING MESSAGE = 'secret'; END $$",
			want: driver.Check,
		},
		{
			name: "disk_full", sql: "DO $$ BEGIN RAISE disk_full USING MESSAGE = 'x'; END $$",
			want: driver.Full,
		},
		{name: "unknown function", sql: "SELECT no_such_function()", want: driver.Syntax},
		{name: "unknown schema", sql: "CREATE TABLE no_such_schema.x ()", want: driver.Syntax},
		{
			name: "not in a transaction", sql: "DO $$ BEGIN EXECUTE 'VACUUM'; END $$",
			want: driver.Syntax,
		},
		{
			name: "statement_timeout", sql: "SET LOCAL statement_timeout = 10; SELECT pg_sleep(5)",
			want: driver.Canceled,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := db.Transaction(func(tx *gorm.DB) error {
				return tx.Exec(tc.sql, tc.args...).Error
			})
			if got := driver.KindOf(err); got != tc.want ||
				strings.Contains(err.Error(), "secret") ||
				strings.Contains(err.Error(), "1099511627776") {
				t.Errorf("kind = %q of %v, want %q", got, err, tc.want)
			}
		})
	}
}

func TestDialector_Translate_ExclusionConstraint(t *testing.T) {
	_, config := find(t)
	db := open(t, xdb.Options{Parts: config})
	err := db.Transaction(func(tx *gorm.DB) error {
		return tx.Exec("CREATE TEMPORARY TABLE rooms (during int4range, CONSTRAINT one_guest EXCLUDE USING gist (during WITH &&)) ON COMMIT DROP;" +
			"INSERT INTO rooms VALUES ('[1,5)'), ('[4,6)')").Error
	})
	if !errors.Is(err, gorm.ErrDuplicatedKey) ||
		err.Error() != "unique constraint violated: one_guest" {
		t.Errorf("error = %v, want gorm.ErrDuplicatedKey with one_guest", err)
	}
}

func TestOpen_InvalidDSN(t *testing.T) {
	for _, tc := range []struct{ name, dsn string }{
		{
			name: "missing CA file",
			dsn:  "postgres://u:geheim1@localhost/n?sslmode=verify-full&sslrootcert=/no/such/file",
		},
		{name: "unknown sslmode", dsn: "postgres://u:geheim1@localhost/n?sslmode=on"},
		{name: "invalid escape", dsn: "postgres://u:geheim1%zz@localhost/n"},
		{name: "raw @ and raw #", dsn: "postgres://u:hun@geheim1#2@127.0.0.1:5432/x"},
		{name: "raw # after the host", dsn: "postgres://u:p@geheim1:5432/x#1"},
		{name: "invalid port", dsn: "host=localhost port=x user=u password=geheim1"},
		{
			name: "password in a parameter",
			dsn:  "postgres://u@localhost/n?password=geheim1&sslmode=on",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			db, log, err := openLogged(t, xdb.Options{DSN: xlog.Secret(tc.dsn)})
			if err == nil {
				t.Fatal("Open: error = nil", xdb.Close(db))
			}
			if strings.Contains(err.Error()+log.String(), "geheim1") ||
				!strings.Contains(err.Error(), "DATABASE_DSN") {
				t.Errorf("error = %q, want the variable without the password", err)
			}
			if strings.Contains(log.String(), "not reachable yet") {
				t.Errorf("Open retried:\n%s", log)
			}
		})
	}
}
