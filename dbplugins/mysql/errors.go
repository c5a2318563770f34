package mysql

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	gosql "github.com/go-sql-driver/mysql"

	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

// ErrorKind implements driver.Driver.
func (Driver) ErrorKind(err error) driver.ErrorKind {
	var e *gosql.MySQLError
	if errors.As(err, &e) {
		if e.Number == unknownError && strings.Contains(e.Message, "max_allowed_packet") {
			return driver.TooLong // a single parameter is too long
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
	unknownError = 1105 // several errors, distinguished by the message
	// a resource limit of a user; the server does not translate the name of the resource
	userLimit = 1226

	// badYear is the library's message for a time that DATETIME cannot store, without the
	// year.
	badYear = "year is not in the range [1, 9999]"
)

// libraryKinds maps the errors of the library itself.
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

// kinds maps error numbers to kinds. Numbers up to 1878 are common to both servers.
var kinds = driver.KindTable(map[driver.ErrorKind][]uint16{
	// 1859: while an index is created
	driver.Unique:     {1022, 1062, 1169, 1586, 1859},
	driver.ForeignKey: {1216, 1217, 1451, 1452, 1761, 1762, 1834},
	// 3819: MySQL; 4025: MariaDB
	driver.Check: {3819, 4025},
	// 1138: a column with NULLs becomes NOT NULL; 1364: no value and no default
	driver.NotNull: {1048, 1138, 1263, 1364},
	// 1153: max_allowed_packet
	driver.TooLong: {1153, 1162, 1301, 1406},
	// 1365: division by zero; 1526: no partition
	driver.OutOfRange: {1264, 1365, 1441, 1526, 1690},
	// 1265: not a value of an ENUM, or trailing text after a number; 1292: not a time or
	// a number; 3140: MySQL: JSON
	driver.Malformed: {1265, 1292, 1300, 1366, 1367, 1411, 1416, 1525, 3140, 3141, 3144},
	// 1020: MariaDB: the row changed since the snapshot; 3101: MySQL: group replication
	driver.Deadlock: {1020, 1213, 1614, 3058, 3101},
	// 3572: MySQL: NOWAIT
	driver.LockTimeout: {1205, 3572},
	// 1969: MariaDB: max_statement_time; 3024: MySQL: max_execution_time
	driver.Canceled: {1317, 1969, 3024},
	// 1047: Galera: the node is not ready; 1135: no thread; 1226: hourly limits of a
	// user; 1927: MariaDB: killed; 3032: offline mode; 3169: MySQL: killed
	driver.Connection: {
		1042, 1043, 1047, 1053, 1077, 1079, 1135, 1152, 1156, 1158, 1159, 1160, 1161, 1226,
		1927, 2006, 2013, 3032, 3169,
	},
	// 1203: limit of a user
	driver.TooManyConnections: {1040, 1203},
	// 1129: the host is blocked; 1130: the host is not allowed; 1524: unknown plugin;
	// 1820: the password has expired; 3118: MySQL: the account is locked; 3159: TLS
	// required; 4151: MariaDB: the account is locked
	driver.Authentication: {
		1044, 1045, 1129, 1130, 1142, 1143, 1227, 1251, 1370, 1524, 1698, 1820, 1862, 1873,
		3118, 3159, 4151,
	},
	driver.UnknownDatabase: {1049},
	// 1021: the disk; 1114: a table
	driver.Full:     {1021, 1114},
	driver.ReadOnly: {1290, 1792, 1836},
	// 1055: ONLY_FULL_GROUP_BY; 1059: name too long; 1071: key too long; 1102: invalid
	// database name; 1103: invalid table name; 1115: unknown character set; 1118: row too
	// large; 1170: index of a text column without a length; 1273: unknown collation;
	// 1390: too many parameters; 3780: MySQL: columns of a foreign key do not match
	driver.Syntax: {
		1050, 1051, 1052, 1054, 1055, 1059, 1060, 1061, 1064, 1065, 1066, 1071, 1091, 1102,
		1103, 1115, 1118, 1136, 1140, 1146, 1149, 1170, 1210, 1215, 1235, 1241, 1273, 1305,
		1390, 1463, 3780,
	},
})

// safeKinds contains the kinds whose messages never quote a value.
var safeKinds = map[driver.ErrorKind]bool{
	driver.Deadlock: true, driver.LockTimeout: true, driver.Canceled: true, driver.Connection: true,
	driver.TooManyConnections: true, driver.Authentication: true, driver.UnknownDatabase: true,
	driver.ReadOnly: true, driver.Full: true,
}

// nameMarks maps error numbers to the text before the quoted name of a constraint or
// column. A quoted value precedes that text.
var nameMarks = map[uint16]string{
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

// name matches a quoted name, optionally qualified by its database and table.
var name = regexp.MustCompile("^(?:'([\\w.$-]+)'|`([\\w.$`-]+)`)")

// detail returns the text of an error message without quoted values. Errors of the
// library itself contain no values.
func detail(err error) string {
	var e *gosql.MySQLError
	switch {
	case !errors.As(err, &e):
		if strings.Contains(err.Error(), badYear) {
			return badYear
		}
		return err.Error()
	case e.Number == 1115:
		return fmt.Sprintf("unknown character set (%s)", charsetKey)
	case safeKinds[kinds[e.Number]]:
		return err.Error()
	}
	number := fmt.Sprintf("error %d", e.Number)
	mark, ok := nameMarks[e.Number]
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
