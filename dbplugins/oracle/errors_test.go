package oracle_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/sijms/go-ora/v2/network"

	"github.com/plinthgo/plinth/core/major/xdb/driver"
	"github.com/plinthgo/plinth/dbplugins/oracle"
)

// message23 is a message of 23ai, which contains the value.
const message23 = "ORA-00001: unique constraint (APP.UQ_EMAIL) violated on table APP.USERS columns (EMAIL)\n" +
	"ORA-03301: (ORA-00001 details) row with column values (EMAIL:'hunter2') already exists"

func TestDriver_ErrorKind(t *testing.T) {
	for _, tc := range []struct {
		code int
		text string
		kind driver.ErrorKind
		want string // the translated text
	}{
		{
			1, "ORA-00001: unique constraint (APP.UQ_EMAIL) violated",
			driver.Unique, "unique constraint violated: ORA-00001 APP.UQ_EMAIL",
		},
		{1, message23, driver.Unique, "unique constraint violated: ORA-00001 APP.UQ_EMAIL"},
		{
			1, "ORA-00001: unique constraint (APP.UQ_EMAIL) violated\nORA-06512: at line 3",
			driver.Unique, "unique constraint violated: ORA-00001 APP.UQ_EMAIL",
		},
		{1, "(hunter2)", driver.Unique, "unique constraint violated: ORA-00001"},
		{
			2291, "ORA-02291: integrity constraint (APP.FK_X) violated - parent key not found",
			driver.ForeignKey, "foreign key constraint violated: ORA-02291 APP.FK_X",
		},
		{
			2292, "ORA-02292: integrity constraint (APP.FK_X) violated - child record found",
			driver.ForeignKey, "foreign key constraint violated: ORA-02292 APP.FK_X",
		},
		{
			2290, "ORA-02290: check constraint (APP.CHK_AGE) violated",
			driver.Check, "check constraint violated: ORA-02290 APP.CHK_AGE",
		},
		{
			1400, `ORA-01400: cannot insert NULL into ("APP"."USERS"."NAME")`,
			driver.NotNull, "not-null constraint violated: ORA-01400 APP.USERS.NAME",
		},
		{
			1407, `ORA-01407: cannot update ("APP"."USERS"."NAME") to NULL`,
			driver.NotNull, "not-null constraint violated: ORA-01407 APP.USERS.NAME",
		},
		{
			12899,
			`ORA-12899: value too large for column "APP"."USERS"."NAME" (actual: 99, maximum: 64)`,
			driver.TooLong, "value too long: ORA-12899",
		},
		{
			1438, "ORA-01438: value 'hunter2' greater than specified precision",
			driver.OutOfRange, "value out of range: ORA-01438",
		},
		{
			1722, "ORA-01722: unable to convert string value containing 'hunter2' to a number",
			driver.Malformed, "value not valid for its column: ORA-01722",
		},
		{1858, "ORA-01858", driver.Malformed, "value not valid for its column: ORA-01858"},
		{
			60, "ORA-00060: deadlock detected while waiting for resource",
			driver.Deadlock, "transaction aborted: deadlock or serialization failure: ORA-00060",
		},
		{
			8177, "ORA-08177", driver.Deadlock,
			"transaction aborted: deadlock or serialization failure: ORA-08177",
		},
		{54, "ORA-00054: resource busy", driver.LockTimeout, "lock not granted in time: ORA-00054"},
		{30006, "ORA-30006", driver.LockTimeout, "lock not granted in time: ORA-30006"},
		{
			1013, "ORA-01013: user requested cancel",
			driver.Canceled, "statement interrupted: ORA-01013",
		},
		{
			1017, "ORA-01017: invalid username/password",
			driver.Authentication, "access denied: ORA-01017",
		},
		{
			28000, "ORA-28000: the account is locked",
			driver.Authentication, "access denied: ORA-28000",
		},
		{12514, "ORA-12514", driver.Connection, "connection failed: ORA-12514"},
		{12541, "ORA-12541", driver.Connection, "connection failed: ORA-12541"},
		{1033, "ORA-01033", driver.Connection, "connection failed: ORA-01033"},
		{
			28, "ORA-00028: your session has been killed",
			driver.Connection, "connection failed: ORA-00028",
		},
		{
			1031, "ORA-01031: insufficient privileges",
			driver.Authentication, "access denied: ORA-01031",
		},
		{
			41900, "ORA-41900: missing CREATE TABLE privilege",
			driver.Authentication, "access denied: ORA-41900",
		},
		{
			1476, "ORA-01476: divisor is equal to zero",
			driver.OutOfRange, "value out of range: ORA-01476",
		},
		{
			1839, "ORA-01839: date not valid for month specified",
			driver.OutOfRange, "value out of range: ORA-01839",
		},
		{
			4020, "ORA-04020: deadlock detected while trying to lock object",
			driver.Deadlock, "transaction aborted: deadlock or serialization failure: ORA-04020",
		},
		{
			1014, "ORA-01014: ORACLE shutdown in progress",
			driver.Connection, "connection failed: ORA-01014",
		},
		{
			18, "ORA-00018: maximum number of sessions exceeded",
			driver.TooManyConnections, "too many connections: ORA-00018",
		},
		{
			20, "ORA-00020: maximum number of processes (200) exceeded",
			driver.TooManyConnections, "too many connections: ORA-00020",
		},
		{
			2391, "ORA-02391: exceeded simultaneous SESSIONS_PER_USER limit",
			driver.TooManyConnections, "too many connections: ORA-02391",
		},
		{
			2399, "ORA-02399: exceeded maximum connect time",
			driver.Connection, "connection failed: ORA-02399",
		},
		{
			910, "ORA-00910: specified length too long for its datatype",
			driver.Syntax, "invalid statement: ORA-00910",
		},
		{16000, "ORA-16000", driver.ReadOnly, "database is read-only: ORA-16000"},
		{
			1653, "ORA-01653: unable to extend table U.T",
			driver.Full, "no space left in the database: ORA-01653",
		},
		{
			900, "ORA-00900: invalid SQL statement: SELEKT 'hunter2'",
			driver.Syntax, "invalid statement: ORA-00900",
		},
		{
			904, `ORA-00904: "HUNTER2": invalid identifier`,
			driver.Syntax, "invalid statement: ORA-00904",
		},
		{
			942, "ORA-00942: table or view does not exist",
			driver.Syntax, "invalid statement: ORA-00942",
		},
		{
			6550, "ORA-06550: line 2, column 13:\nPL/SQL: ORA-00942",
			driver.Syntax, "invalid statement: ORA-06550",
		},
		{
			20001, "ORA-20001: the application's own",
			driver.Unknown, "ORA-20001: the application's own error occur at position: 0",
		},
	} {
		t.Run(fmt.Sprintf("ORA-%05d", tc.code), func(t *testing.T) {
			cause := &network.OracleError{ErrCode: tc.code, ErrMsg: tc.text}
			err := oracle.Translate(fmt.Errorf("wrapped: %w", cause))
			if got := (oracle.Driver{}).ErrorKind(err); got != tc.kind {
				t.Errorf("kind = %v, want %v", got, tc.kind)
			}
			if got := strings.TrimPrefix(err.Error(), "wrapped: "); got != tc.want {
				t.Errorf("text = %q, want %q", got, tc.want)
			}
			var serverErr *network.OracleError
			if !errors.As(err, &serverErr) {
				t.Error("the error does not wrap the library's error")
			}
		})
	}
}

func TestDriver_ErrorKind_Network(t *testing.T) {
	if got := (oracle.Driver{}).ErrorKind(network.ErrConnReset); got != driver.Canceled {
		t.Errorf("kind of an interrupt = %v, want %v", got, driver.Canceled)
	}
	for _, err := range []error{
		nil, errors.New("plain"), io.EOF, io.ErrUnexpectedEOF,
		fmt.Errorf("read: %w", io.EOF),
	} {
		if got := (oracle.Driver{}).ErrorKind(err); got != driver.Unknown {
			t.Errorf("kind of %v = %v, want %v", err, got, driver.Unknown)
		}
	}
}
