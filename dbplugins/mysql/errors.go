package mysql

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	gosql "github.com/go-sql-driver/mysql"

	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

// ErrorKind implements driver.Driver.
func (Driver) ErrorKind(err error) driver.ErrorKind {
	var e *gosql.MySQLError
	if errors.As(err, &e) {
		if e.Number == unknownError && strings.Contains(e.Message, "max_allowed_packet") {
			return driver.TooLong // of a parameter alone
		}
		if e.Number == userLimit && strings.Contains(e.Message, "'max_user_connections'") {
			return driver.TooManyConnections
		}
		return kinds[e.Number]
	}
	for _, l := range libraryKinds {
		if errors.Is(err, l.err) {
			return l.kind
		}
	}
	if err != nil && strings.Contains(err.Error(), badYear) {
		return driver.OutOfRange
	}
	return driver.Unknown
}

const (
	unknownError = 1105 // of many kinds, told apart by the text
	userLimit    = 1226 // of several resources of a user, which the text quotes in every language

	// badYear is what the library says of a time that has no place in a DATETIME, before the year.
	badYear = "year is not in the range [1, 9999]"
)

// libraryKinds are the errors that the library finds by itself.
var libraryKinds = []struct {
	err  error
	kind driver.ErrorKind
}{
	{gosql.ErrInvalidConn, driver.Connection},
	{gosql.ErrPktTooLarge, driver.TooLong},
	{gosql.ErrNativePassword, driver.Authentication},
	{gosql.ErrOldPassword, driver.Authentication},
	{gosql.ErrCleartextPassword, driver.Authentication},
	{gosql.ErrUnknownPlugin, driver.Authentication},
}

// kinds is the error table. Up to 1878 both servers have the same numbers, above it their own.
var kinds = map[uint16]driver.ErrorKind{
	1022: driver.Unique,
	1062: driver.Unique,
	1169: driver.Unique,
	1586: driver.Unique,
	1859: driver.Unique, // while an index is made

	1216: driver.ForeignKey,
	1217: driver.ForeignKey,
	1451: driver.ForeignKey,
	1452: driver.ForeignKey,
	1761: driver.ForeignKey,
	1762: driver.ForeignKey,
	1834: driver.ForeignKey,

	3819: driver.Check, // MySQL
	4025: driver.Check, // MariaDB

	1048: driver.NotNull,
	1138: driver.NotNull, // a column with NULLs becomes NOT NULL
	1263: driver.NotNull,
	1364: driver.NotNull, // no value, and no default

	1153: driver.TooLong, // max_allowed_packet
	1162: driver.TooLong,
	1301: driver.TooLong,
	1406: driver.TooLong,

	1264: driver.OutOfRange,
	1365: driver.OutOfRange, // division by zero
	1441: driver.OutOfRange,
	1526: driver.OutOfRange, // no partition
	1690: driver.OutOfRange,

	1265: driver.Malformed, // a text that is no value of an ENUM, or a number with text behind it
	1292: driver.Malformed, // a text that is no time, or no number
	1300: driver.Malformed,
	1366: driver.Malformed,
	1367: driver.Malformed,
	1411: driver.Malformed,
	1416: driver.Malformed,
	1525: driver.Malformed,
	3140: driver.Malformed, // MySQL: JSON
	3141: driver.Malformed,
	3144: driver.Malformed,

	1020: driver.Deadlock, // MariaDB: another one has changed the row since the snapshot
	1213: driver.Deadlock,
	1614: driver.Deadlock,
	3058: driver.Deadlock,
	3101: driver.Deadlock, // MySQL: group replication

	1205: driver.LockTimeout,
	3572: driver.LockTimeout, // MySQL: NOWAIT

	1317: driver.Canceled,
	1969: driver.Canceled, // MariaDB: max_statement_time
	3024: driver.Canceled, // MySQL: max_execution_time

	1042: driver.Connection,
	1043: driver.Connection,
	1047: driver.Connection, // Galera: the node is not ready
	1053: driver.Connection,
	1077: driver.Connection,
	1079: driver.Connection,
	1135: driver.Connection, // no thread
	1152: driver.Connection,
	1156: driver.Connection,
	1158: driver.Connection,
	1159: driver.Connection,
	1160: driver.Connection,
	1161: driver.Connection,
	1226: driver.Connection, // such as the queries of an hour
	1927: driver.Connection, // MariaDB: killed
	2006: driver.Connection,
	2013: driver.Connection,
	3032: driver.Connection, // offline mode
	3169: driver.Connection, // MySQL: killed

	1040: driver.TooManyConnections,
	1203: driver.TooManyConnections, // of the user

	1044: driver.Authentication,
	1045: driver.Authentication,
	1129: driver.Authentication, // the host is blocked
	1130: driver.Authentication, // the host is not allowed
	1142: driver.Authentication,
	1143: driver.Authentication,
	1227: driver.Authentication,
	1251: driver.Authentication,
	1370: driver.Authentication,
	1524: driver.Authentication, // an unknown plugin
	1698: driver.Authentication,
	1820: driver.Authentication, // the password has expired
	1862: driver.Authentication,
	1873: driver.Authentication,
	3118: driver.Authentication, // MySQL: the account is locked
	3159: driver.Authentication, // only with TLS
	4151: driver.Authentication, // MariaDB: the account is locked

	1049: driver.UnknownDatabase,

	1021: driver.Full, // the disk
	1114: driver.Full, // a table

	1290: driver.ReadOnly,
	1792: driver.ReadOnly,
	1836: driver.ReadOnly,

	1050: driver.Syntax,
	1051: driver.Syntax,
	1052: driver.Syntax,
	1054: driver.Syntax,
	1055: driver.Syntax, // ONLY_FULL_GROUP_BY
	1059: driver.Syntax, // a name too long
	1060: driver.Syntax,
	1061: driver.Syntax,
	1064: driver.Syntax,
	1065: driver.Syntax,
	1066: driver.Syntax,
	1071: driver.Syntax, // a key too long
	1091: driver.Syntax,
	1102: driver.Syntax, // no name for a database
	1103: driver.Syntax, // nor for a table
	1115: driver.Syntax, // a character set
	1118: driver.Syntax, // a row too large
	1136: driver.Syntax,
	1140: driver.Syntax,
	1146: driver.Syntax,
	1149: driver.Syntax,
	1170: driver.Syntax, // an index of a text without a length
	1210: driver.Syntax,
	1215: driver.Syntax,
	1235: driver.Syntax,
	1241: driver.Syntax,
	1273: driver.Syntax, // a collation
	1305: driver.Syntax,
	1390: driver.Syntax, // too many parameters
	1463: driver.Syntax,
	3780: driver.Syntax, // MySQL: columns of a foreign key that do not match
}

// quiet are the kinds whose messages never quote a value.
var quiet = map[driver.ErrorKind]bool{
	driver.Deadlock: true, driver.LockTimeout: true, driver.Canceled: true, driver.Connection: true,
	driver.TooManyConnections: true, driver.Authentication: true, driver.UnknownDatabase: true,
	driver.ReadOnly: true, driver.Full: true,
}

// named are the words behind which a message names a constraint or a column, in quotes. What it quotes of a value comes before.
var named = map[uint16]string{
	1062: " for key ",
	1586: " for key ",
	1451: " CONSTRAINT ",
	1452: " CONSTRAINT ",
	3819: "Check constraint ",
	4025: "CONSTRAINT ",
	1048: "Column ",
	1364: "Field ",
	1263: " column ",
	1264: " for column ",
	1265: " for column ",
	1366: " for column ",
	1406: " for column ",
	1054: "Unknown column ",
	1146: "Table ",
}

// name is what may be shown of a message: one quoted name, maybe with those of its database and table before it.
var name = regexp.MustCompile("^(?:'([\\w.$-]+)'|`([\\w.$`-]+)`)")

// detail is what an error may say beside its kind. The servers quote values in many messages, and the library's own
// errors none.
func detail(err error) string {
	var e *gosql.MySQLError
	switch {
	case !errors.As(err, &e):
		if strings.Contains(err.Error(), badYear) {
			return badYear
		}
		return err.Error()
	case e.Number == 1115:
		return fmt.Sprintf("the server does not know the character set (%s)", xenv.DatabaseCharset)
	case quiet[kinds[e.Number]]:
		return err.Error()
	}
	number := fmt.Sprintf("error %d", e.Number)
	mark, ok := named[e.Number]
	if !ok {
		return number
	}
	at := strings.LastIndex(e.Message, mark)
	if at < 0 {
		return number
	}
	if m := name.FindStringSubmatch(e.Message[at+len(mark):]); m != nil {
		return strings.ReplaceAll(m[1]+m[2], "`", "")
	}
	return number
}
