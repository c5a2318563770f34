package sqlserver_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	mssql "github.com/microsoft/go-mssqldb"
	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
	"github.com/plinthgo/plinth/dbplugins/sqlserver"
)

// value occurs in every message, but must not occur in an error or a log line.
const value = "unique-secret-value"

// serverErrors contains error messages of the server, and the resulting errors.
var serverErrors = []struct {
	name     string
	reply    tdsReply
	code     *xerror.ErrorCode
	sentinel error
	want     string // the text of the error
}{
	{
		name: "unique constraint", code: xerror.UniqueConstraint, sentinel: gorm.ErrDuplicatedKey,
		reply: tdsFail(2627, "Violation of UNIQUE KEY constraint 'uni_authors_name'. Cannot insert duplicate key in object 'dbo.authors'. The duplicate key value is ('"+value+"')."),
		want:  "unique constraint violated: error 2627: uni_authors_name",
	},
	{
		name: "primary key", code: xerror.UniqueConstraint, sentinel: gorm.ErrDuplicatedKey,
		reply: tdsFail(2627, "Violation of PRIMARY KEY constraint 'PK__authors__3213E83F'. Cannot insert duplicate key in object 'dbo.authors'. The duplicate key value is ("+value+")."),
		want:  "unique constraint violated: error 2627: PK__authors__3213E83F",
	},
	{
		name: "unique index", code: xerror.UniqueConstraint, sentinel: gorm.ErrDuplicatedKey,
		reply: tdsFail(2601, "Cannot insert duplicate key row in object 'dbo.authors' with unique index 'idx_authors_name'. The duplicate key value is ("+value+")."),
		want:  "unique constraint violated: error 2601: idx_authors_name",
	},
	{
		name: "unique index in German",
		code: xerror.UniqueConstraint, sentinel: gorm.ErrDuplicatedKey,
		reply: tdsFail(2601, "Eine Zeile mit doppeltem Schlüssel kann in das dbo.authors-Objekt mit dem eindeutigen idx_authors_name-Index nicht eingefügt werden. Der doppelte Schlüsselwert ist ('"+value+"')."),
		want:  "unique constraint violated: error 2601",
	},
	{
		name: "foreign key", code: xerror.ForeignKeyError, sentinel: gorm.ErrForeignKeyViolated,
		reply: tdsFail(547, `The INSERT statement conflicted with the FOREIGN KEY constraint "fk_CHECK_books". The conflict occurred in database "app", table "dbo.authors", column 'id'.`),
		want:  "foreign key constraint violated: error 547: fk_CHECK_books",
	},
	{
		name: "referenced foreign key",
		code: xerror.ForeignKeyError, sentinel: gorm.ErrForeignKeyViolated,
		reply: tdsFail(547, `The DELETE statement conflicted with the REFERENCE constraint "fk_authors_books". The conflict occurred in database "app", table "dbo.books", column 'author_id'.`),
		want:  "foreign key constraint violated: error 547: fk_authors_books",
	},
	{
		name: "check", code: xerror.IntegrityError, sentinel: gorm.ErrCheckConstraintViolated,
		reply: tdsFail(547, `The INSERT statement conflicted with the CHECK constraint "chk_authors_age". The conflict occurred in database "app", table "dbo.authors", column 'age'.`),
		want:  "check constraint violated: error 547: chk_authors_age",
	},
	{
		name: "check in German",
		code: xerror.IntegrityError, sentinel: gorm.ErrCheckConstraintViolated,
		reply: tdsFail(547, `Die INSERT-Anweisung steht in Konflikt mit der CHECK-Einschränkung "chk_authors_age". Der Konflikt trat in der "app"-Datenbank, Tabelle "dbo.authors", column 'age' auf.`),
		want:  "check constraint violated: error 547",
	},
	{
		name: "check with apostrophes",
		code: xerror.IntegrityError, sentinel: gorm.ErrCheckConstraintViolated,
		reply: tdsFail(547, `L'istruzione INSERT è in conflitto con il vincolo CHECK "fk_REFERENCE" (column 'age').`),
		want:  "check constraint violated: error 547",
	},
	{
		name: "not null", code: xerror.DataIncomplete,
		reply: tdsFail(515, "Cannot insert the value NULL into column 'name', table 'app.dbo.authors'; column does not allow nulls. INSERT fails."),
		want:  "not-null constraint violated: error 515: name",
	},
	{
		name: "too long", code: xerror.DataTooLarge,
		reply: tdsFail(2628, "String or binary data would be truncated in table 'app.dbo.authors', column 'name'. Truncated value: '"+value+"'."),
		want:  "value too long: error 2628: name",
	},
	{
		name: "too long before 2019", code: xerror.DataTooLarge,
		reply: tdsFail(8152, "String or binary data would be truncated."),
		want:  "value too long: error 8152",
	},
	{
		name: "out of range", code: xerror.DataOutOfRange,
		reply: tdsFail(8115, "Arithmetic overflow error converting nvarchar to data type numeric."),
		want:  "value out of range: error 8115",
	},
	{
		name: "not a number", code: xerror.DataInvalid,
		reply: tdsFail(245, "Conversion failed when converting the nvarchar value '"+value+
			"' to data type int."),
		want: "value not valid for its column: error 245",
	},
	{
		name: "unknown procedure", code: xerror.DatabaseError,
		reply: tdsFail(2812, "Could not find stored procedure '"+value+"'."),
		want:  "invalid statement: error 2812",
	},
	{
		name: "syntax", code: xerror.DatabaseError,
		reply: tdsFail(102, "Incorrect syntax near '"+value+"'."),
		want:  "invalid statement: error 102",
	},
	{
		name: "too many parameters", code: xerror.DatabaseError,
		reply: tdsFail(8003, "The incoming request has too many parameters. The server supports a maximum of 2100 parameters."),
		want:  "invalid statement: error 8003",
	},
	{
		name: "deadlock", code: xerror.ConcurrencyError,
		reply: tdsReply{
			Rollback: true,
			Errors: []tdsError{{
				Number: 1205, Class: 13,
				Message: "Transaction (Process ID 52) was deadlocked on lock resources with another process and has been chosen as the deadlock victim. Rerun the transaction.",
			}},
		},
		want: "transaction aborted: deadlock or serialization failure: error 1205",
	},
	{
		name: "lock timeout", code: xerror.LockConflict,
		reply: tdsFail(1222, "Lock request time out period exceeded."),
		want:  "lock not granted in time: error 1222",
	},
	{
		name: "read-only", code: xerror.ServiceUnavailable,
		reply: tdsFail(3906, `Failed to update database "app" because the database is read-only.`),
		want:  `database is read-only: error 3906: Failed to update database "app" because the database is read-only.`,
	},
	{
		name: "busy", code: xerror.ServiceUnavailable,
		reply: tdsFail(10928, "Resource ID: 1. The request limit for the database is 90 and has been reached."),
		want:  "connection failed: error 10928: Resource ID: 1. The request limit for the database is 90 and has been reached.",
	},
	{
		name: "session limit", code: xerror.ServiceUnavailable,
		reply: tdsFail(10928, "Resource ID: 2. The session limit for the database is 300 and has been reached."),
		want:  "too many connections: error 10928: Resource ID: 2. The session limit for the database is 300 and has been reached.",
	},
	{
		name: "several", code: xerror.UniqueConstraint, sentinel: gorm.ErrDuplicatedKey,
		reply: tdsReply{Errors: []tdsError{
			{Number: 2627, Message: "Violation of UNIQUE KEY constraint 'u'. Cannot insert duplicate key in object 'dbo.a'. The duplicate key value is (" + value + ")."},
			{Number: 3621, Message: "The statement has been terminated."},
		}},
		want: "unique constraint violated: error 2627: u, error 3621",
	},
}

func TestDialector_Translate(t *testing.T) {
	for _, tc := range serverErrors {
		t.Run(tc.name, func(t *testing.T) {
			s := startDouble(t, when("INSERT", tc.reply))
			db, log := open(t, s, xdb.Options{})
			err := db.Create(&note{Text: value}).Error
			if code := xerror.From(err).GetErrorCode(); code != tc.code {
				t.Errorf("code = %v, want %v (%v)", code, tc.code, err)
			}
			if tc.sentinel != nil && !errors.Is(err, tc.sentinel) {
				t.Errorf("error does not match %q", tc.sentinel)
			}
			if got := err.Error(); got != tc.want {
				t.Errorf("error = %q, want %q", got, tc.want)
			}
			if strings.Contains(log.String(), value) {
				t.Errorf("the log contains the value: %s", log)
			}
			if err := db.Exec("UPDATE t SET x = 1").Error; err != nil {
				t.Errorf("the next statement = %v", err)
			}
		})
	}
}

func TestDriver_ErrorKind(t *testing.T) {
	number := func(n int32) error { return mssql.Error{Number: n} }
	limit := func(message string) error { return mssql.Error{Number: 10928, Message: message} }
	for _, tc := range []struct {
		name string
		err  error
		want driver.ErrorKind
	}{
		{name: "nil", err: nil, want: driver.Unknown},
		{name: "other error", err: errors.New("x"), want: driver.Unknown},
		{name: "unknown number", err: number(50000), want: driver.Unknown},
		{name: "wrapped", err: fmt.Errorf("x: %w", number(2627)), want: driver.Unique},
		{name: "high severity", err: mssql.Error{Number: 823, Class: 24}, want: driver.Connection},
		{
			name: "broken stream",
			err:  mssql.StreamError{InnerError: io.EOF}, want: driver.Connection,
		},
		{name: "fatal", err: mssql.ServerError{}, want: driver.Connection},
		{name: "network error", err: io.ErrUnexpectedEOF, want: driver.Unknown},
		{name: "deadline", err: context.DeadlineExceeded, want: driver.Unknown},
		{name: "snapshot conflict", err: number(3960), want: driver.Deadlock},
		{name: "no permission", err: number(229), want: driver.Authentication},
		{name: "unknown domain", err: number(18452), want: driver.Authentication},
		{name: "unknown database", err: number(911), want: driver.UnknownDatabase},
		{name: "failover", err: number(40197), want: driver.Connection},
		{name: "shutdown", err: number(6005), want: driver.Connection},
		{name: "connection limit", err: number(17809), want: driver.TooManyConnections},
		{
			name: "request limit",
			err:  limit("Resource ID: 1. The request limit for the database is 30"),
			want: driver.Connection,
		},
		{
			name: "session limit",
			err:  limit("Resource ID: 2. The session limit for the database is 300"),
			want: driver.TooManyConnections,
		},
		{
			name: "login limit",
			err:  limit("Resource ID: 3. The login limit for the database is 30"),
			want: driver.TooManyConnections,
		},
		{
			name: "limit of another resource",
			err:  limit("Resource ID: 20. The limit is 2"), want: driver.Connection,
		},
		{name: "string to time", err: number(241), want: driver.Malformed},
		{name: "time out of range", err: number(242), want: driver.OutOfRange},
		{name: "tinyint", err: number(220), want: driver.OutOfRange},
		{name: "unreadable replica", err: number(976), want: driver.Connection},
		{name: "replica without a snapshot", err: number(4221), want: driver.Connection},
		{name: "server cannot be opened", err: number(40532), want: driver.Authentication},
		{name: "invalid floating-point number", err: number(3623), want: driver.OutOfRange},
		{name: "division by zero", err: number(8134), want: driver.OutOfRange},
		{name: "file group full", err: number(1105), want: driver.Full},
		{name: "log full", err: number(9002), want: driver.Full},
		{name: "unknown table", err: number(208), want: driver.Syntax},
		{name: "unknown alias", err: number(4104), want: driver.Syntax},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := (sqlserver.Driver{}).ErrorKind(tc.err); got != tc.want {
				t.Errorf("kind = %v, want %v", got, tc.want)
			}
		})
	}
}
