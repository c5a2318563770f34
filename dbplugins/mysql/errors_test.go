package mysql_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	gosql "github.com/go-sql-driver/mysql"
	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/major/xdb/driver"
	"github.com/plinthgo/plinth/dbplugins/mysql"
)

const secret = "unique-secret-value"

func TestDriver_ErrorKind(t *testing.T) {
	for _, tc := range []struct {
		name    string
		number  uint16
		message string
		kind    driver.ErrorKind
		want    string // after the text of the kind
	}{
		{
			"unique", 1062, "Duplicate entry '" + secret + "' for key 'uq_name'",
			driver.Unique, "uq_name",
		},
		{
			"unique in MySQL 8", 1062, "Duplicate entry '" + secret + "' for key 'users.uq_name'",
			driver.Unique, "users.uq_name",
		},
		{
			"value that resembles the message", 1062,
			"Duplicate entry 'x' for key '" + secret + "' for key 'PRIMARY'",
			driver.Unique, "PRIMARY",
		},
		{
			"truncated value", 1062, "Duplicate entry 'x' for key 'a " + secret + "'",
			driver.Unique, "error 1062",
		},
		{
			"foreign key", 1452,
			"Cannot add or update a child row: a foreign key constraint fails (`db`.`books`, CONSTRAINT " +
				"`fk_author` FOREIGN KEY (`author_id`) REFERENCES `authors` (`id`))",
			driver.ForeignKey, "fk_author",
		},
		{
			"foreign key with a quoted record", 1761,
			"Foreign key constraint for table 't', record '" + secret + "' would",
			driver.ForeignKey, "error 1761",
		},
		{
			"check in MySQL", 3819, "Check constraint 'chk_age' is violated.",
			driver.Check, "chk_age",
		},
		{
			"check in MariaDB", 4025, "CONSTRAINT `chk_age` failed for `db`.`users`",
			driver.Check, "chk_age",
		},
		{"not null", 1048, "Column 'name' cannot be null", driver.NotNull, "name"},
		{"no default", 1364, "Field 'name' doesn't have a default value", driver.NotNull, "name"},
		{"too long", 1406, "Data too long for column 'name' at row 1", driver.TooLong, "name"},
		{
			"out of range", 1264, "Out of range value for column 'age' at row 1",
			driver.OutOfRange, "age",
		},
		{
			"expression out of range", 1690, "BIGINT value is out of range in '(" + secret + ")'",
			driver.OutOfRange, "error 1690",
		},
		{
			"not a number", 1366,
			"Incorrect decimal value: '" + secret + "' for column `db`.`t`.`amount` at row 1",
			driver.Malformed, "db.t.amount",
		},
		{
			"not a number in a condition", 1292,
			"Truncated incorrect DOUBLE value: '" + secret + "'",
			driver.Malformed, "error 1292",
		},
		{
			"invalid characters", 1300, "Invalid utf8mb4 character string: '" + secret + "'",
			driver.Malformed, "error 1300",
		},
		{
			"deadlock", 1213, "Deadlock found when trying to get lock",
			driver.Deadlock, "Error 1213: Deadlock found when trying to get lock",
		},
		{
			"changed since the snapshot", 1020, "Record has changed",
			driver.Deadlock, "Error 1020: Record has changed",
		},
		{
			"lock timeout", 1205, "Lock wait timeout exceeded",
			driver.LockTimeout, "Error 1205: Lock wait timeout exceeded",
		},
		{"NOWAIT", 3572, "Statement aborted", driver.LockTimeout, "Error 3572: Statement aborted"},
		{
			"interrupted", 1317, "Query execution was interrupted",
			driver.Canceled, "Error 1317: Query execution was interrupted",
		},
		{
			"too many connections", 1040, "Too many connections",
			driver.TooManyConnections, "Error 1040: Too many connections",
		},
		{
			"too many connections of a user", 1203, "User u already has more",
			driver.TooManyConnections, "Error 1203: User u already has more",
		},
		{
			"too many connections of an account", 1226,
			"User 'u' has exceeded the 'max_user_connections' resource (current value: 2)",
			driver.TooManyConnections,
			"Error 1226: User 'u' has exceeded the 'max_user_connections' resource (current value: 2)",
		},
		{
			"too many connections of an account, in German", 1226,
			"Benutzer 'u' hat die Ressourcenbeschränkung 'max_user_connections' überschritten",
			driver.TooManyConnections,
			"Error 1226: Benutzer 'u' hat die Ressourcenbeschränkung 'max_user_connections' überschritten",
		},
		{
			"too many connections per hour", 1226,
			"User 'u' has exceeded the 'max_connections_per_hour' resource (current value: 2)",
			driver.Connection,
			"Error 1226: User 'u' has exceeded the 'max_connections_per_hour' resource (current value: 2)",
		},
		{
			"killed", 1927, "Connection was killed",
			driver.Connection, "Error 1927: Connection was killed",
		},
		{
			"wrong password", 1045, "Access denied for user 'u'",
			driver.Authentication, "Error 1045: Access denied for user 'u'",
		},
		{
			"unknown database", 1049, "Unknown database 'x'",
			driver.UnknownDatabase, "Error 1049: Unknown database 'x'",
		},
		{"read only", 1792, "Cannot execute", driver.ReadOnly, "Error 1792: Cannot execute"},
		{"disk full", 1021, "Disk full (/tmp/x)", driver.Full, "Error 1021: Disk full (/tmp/x)"},
		{
			"table full", 1114, "The table 'x' is full",
			driver.Full, "Error 1114: The table 'x' is full",
		},
		{
			"syntax", 1064, "You have an error near '" + secret + "' at line 1",
			driver.Syntax, "error 1064",
		},
		{
			"unknown column", 1054, "Unknown column 'colour' in 'where clause'",
			driver.Syntax, "colour",
		},
		{"unknown table", 1146, "Table 'db.t' doesn't exist", driver.Syntax, "db.t"},
		{
			"wrong table name", 1103, "Incorrect table name '" + secret + "'",
			driver.Syntax, "error 1103",
		},
		{
			"wrong database name", 1102, "Incorrect database name '" + secret + "'",
			driver.Syntax, "error 1102",
		},
		{
			"name too long", 1059, "Identifier name '" + secret + "' is too long",
			driver.Syntax, "error 1059",
		},
		{
			"unknown character set", 1115, "Unknown character set: 'x'",
			driver.Syntax, "unknown character set (DATABASE_CHARSET)",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cause := fmt.Errorf("wrapped: %w",
				&gosql.MySQLError{Number: tc.number, Message: tc.message})
			if got := (mysql.Driver{}).ErrorKind(cause); got != tc.kind {
				t.Errorf("kind = %v, want %v", got, tc.kind)
			}
			err := translate(cause)
			if got := driver.KindOf(err); got != tc.kind || !errors.Is(err, cause) {
				t.Errorf("kind = %v of %v, want %v, and an error that wraps the cause",
					got, err, tc.kind)
			}
			want := tc.kind.String() + ": " + tc.want
			if got := strings.ReplaceAll(err.Error(), "wrapped: ", ""); got != want {
				t.Errorf("text = %q, want %q", got, want)
			}
		})
	}
}

// translate translates an error as gorm does.
func translate(err error) error {
	t, ok := mysql.Driver{}.Dialector("").(gorm.ErrorTranslator)
	if !ok {
		return errors.New("the dialector is not a gorm.ErrorTranslator")
	}
	return t.Translate(err)
}

func TestDriver_ErrorKind_Library(t *testing.T) {
	for _, tc := range []struct {
		name string
		err  error
		want driver.ErrorKind
	}{
		{"broken connection", gosql.ErrInvalidConn, driver.Connection},
		{"string longer than a packet", gosql.ErrPktTooLarge, driver.TooLong},
		{"cleartext password", gosql.ErrCleartextPassword, driver.Authentication},
		{"other library error", gosql.ErrNoTLS, driver.Unknown},
		{"unknown number", &gosql.MySQLError{Number: 65000}, driver.Unknown},
		{"canceled context", context.Canceled, driver.Unknown},
		{"nil", nil, driver.Unknown},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := (mysql.Driver{}).ErrorKind(tc.err); got != tc.want {
				t.Errorf("kind = %v, want %v", got, tc.want)
			}
			if err := translate(tc.err); driver.KindOf(err) != tc.want || !errors.Is(err, tc.err) {
				t.Errorf("Translate = %v", err)
			}
		})
	}
}
