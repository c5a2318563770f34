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

	// badYear is what the library says of a time that has no place in a DATETIME, before
	// the year.
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

// kinds is the error table. Up to 1878 both servers have the same numbers, above it their
// own.
var kinds = driver.KindTable(map[driver.ErrorKind][]uint16{
	// 1859: while an index is made
	driver.Unique:     {1022, 1062, 1169, 1586, 1859},
	driver.ForeignKey: {1216, 1217, 1451, 1452, 1761, 1762, 1834},
	// 3819: MySQL; 4025: MariaDB
	driver.Check: {3819, 4025},
	// 1138: a column with NULLs becomes NOT NULL; 1364: no value, and no default
	driver.NotNull: {1048, 1138, 1263, 1364},
	// 1153: max_allowed_packet
	driver.TooLong: {1153, 1162, 1301, 1406},
	// 1365: division by zero; 1526: no partition
	driver.OutOfRange: {1264, 1365, 1441, 1526, 1690},
	// 1265: a text that is no value of an ENUM, or a number with text behind it; 1292: a
	// text that is no time, or no number; 3140: MySQL: JSON
	driver.Malformed: {1265, 1292, 1300, 1366, 1367, 1411, 1416, 1525, 3140, 3141, 3144},
	// 1020: MariaDB: another one has changed the row since the snapshot; 3101: MySQL:
	// group replication
	driver.Deadlock: {1020, 1213, 1614, 3058, 3101},
	// 3572: MySQL: NOWAIT
	driver.LockTimeout: {1205, 3572},
	// 1969: MariaDB: max_statement_time; 3024: MySQL: max_execution_time
	driver.Canceled: {1317, 1969, 3024},
	// 1047: Galera: the node is not ready; 1135: no thread; 1226: such as the queries of
	// an hour; 1927: MariaDB: killed; 3032: offline mode; 3169: MySQL: killed
	driver.Connection: {
		1042, 1043, 1047, 1053, 1077, 1079, 1135, 1152, 1156, 1158, 1159, 1160, 1161, 1226,
		1927, 2006, 2013, 3032, 3169,
	},
	// 1203: of the user
	driver.TooManyConnections: {1040, 1203},
	// 1129: the host is blocked; 1130: the host is not allowed; 1524: an unknown plugin;
	// 1820: the password has expired; 3118: MySQL: the account is locked; 3159: only
	// with TLS; 4151: MariaDB: the account is locked
	driver.Authentication: {
		1044, 1045, 1129, 1130, 1142, 1143, 1227, 1251, 1370, 1524, 1698, 1820, 1862, 1873,
		3118, 3159, 4151,
	},
	driver.UnknownDatabase: {1049},
	// 1021: the disk; 1114: a table
	driver.Full:     {1021, 1114},
	driver.ReadOnly: {1290, 1792, 1836},
	// 1055: ONLY_FULL_GROUP_BY; 1059: a name too long; 1071: a key too long; 1102: no
	// name for a database; 1103: nor for a table; 1115: a character set; 1118: a row too
	// large; 1170: an index of a text without a length; 1273: a collation; 1390: too
	// many parameters; 3780: MySQL: columns of a foreign key that do not match
	driver.Syntax: {
		1050, 1051, 1052, 1054, 1055, 1059, 1060, 1061, 1064, 1065, 1066, 1071, 1091, 1102,
		1103, 1115, 1118, 1136, 1140, 1146, 1149, 1170, 1210, 1215, 1235, 1241, 1273, 1305,
		1390, 1463, 3780,
	},
})

// quiet are the kinds whose messages never quote a value.
var quiet = map[driver.ErrorKind]bool{
	driver.Deadlock: true, driver.LockTimeout: true, driver.Canceled: true, driver.Connection: true,
	driver.TooManyConnections: true, driver.Authentication: true, driver.UnknownDatabase: true,
	driver.ReadOnly: true, driver.Full: true,
}

// named are the words behind which a message names a constraint or a column, in quotes.
// What it quotes of a value comes before.
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

// name is what may be shown of a message: one quoted name, maybe with those of its
// database and table before it.
var name = regexp.MustCompile("^(?:'([\\w.$-]+)'|`([\\w.$`-]+)`)")

// detail is what an error may contain in addition to its kind. The servers quote values
// in many messages, and the library's own errors none.
func detail(err error) string {
	var e *gosql.MySQLError
	switch {
	case !errors.As(err, &e):
		if strings.Contains(err.Error(), badYear) {
			return badYear
		}
		return err.Error()
	case e.Number == 1115:
		return fmt.Sprintf("the server does not know the character set (%s)", charsetKey)
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
