package oracle

import (
	"errors"
	"fmt"
	"regexp"

	"github.com/sijms/go-ora/v2/network"

	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

// ErrorKind implements driver.Driver.
func (Driver) ErrorKind(err error) driver.ErrorKind {
	if kind := driver.KindOf(err); kind != driver.Unknown {
		return kind
	}
	if errors.Is(err, network.ErrConnReset) {
		return driver.Canceled
	}
	var e *network.OracleError
	if !errors.As(err, &e) {
		return driver.Unknown
	}
	if kind, ok := kinds[e.ErrCode]; ok {
		return kind
	}
	switch {
	case e.ErrCode >= 900 && e.ErrCode < 1000:
		return driver.Syntax
	case e.ErrCode >= 12150 && e.ErrCode < 12700: // TNS
		return driver.Connection
	default:
		return driver.Unknown
	}
}

// kinds maps error numbers to kinds.
//
// ORA-12514 and ORA-12505 (unknown service) have kind Connection, because a listener also
// returns them while a database starts. A container that starts together with its
// database must retry.
var kinds = driver.KindTable(map[driver.ErrorKind][]int{
	driver.Unique: {1},
	// 2291: no parent; 2292: a child exists
	driver.ForeignKey: {2291, 2292},
	driver.Check:      {2290},
	// 1400: insert; 1407: update
	driver.NotNull: {1400, 1407},
	// 22835: a CLOB for a VARCHAR2
	driver.TooLong: {1401, 1461, 1489, 12899, 22835},
	// 1476: division by zero; 1839: 30 February
	driver.OutOfRange:  {1426, 1438, 1455, 1476, 1839, 1841, 1843, 1847, 1850, 1851, 1852},
	driver.Malformed:   {1465, 1722, 1830, 1840, 1858, 1861, 6502, 29275},
	driver.Deadlock:    {60, 4020, 8177},
	driver.LockTimeout: {54, 4021, 30006},
	driver.Canceled:    {1013},
	// 1031: no privilege; 41900: the same in 23ai
	driver.Authentication: {1005, 1017, 1045, 28000, 28001, 1031, 41900},
	// 28: the session was killed; 1033: starting or stopping; 1109: not open; 2396: idle
	// too long; 2399: connected too long
	driver.Connection: {
		28, 31, 1012, 1014, 1033, 1034, 1089, 1090, 1092, 1109, 2396, 2399, 3113, 3114, 3135,
		28547,
	},
	// 18: sessions; 20: processes; 2391: sessions of the user
	driver.TooManyConnections: {18, 20, 2391},
	driver.ReadOnly:           {16000, 1456},
	// 1536: the user's quota; 1652: cannot extend a tablespace for a sort, table, index,
	// LOB or undo
	driver.Full: {1536, 1652, 1653, 1654, 1658, 1683, 1688, 1691, 1692, 30036},
	// 6550: a block does not compile
	driver.Syntax: {1756, 1789, 1790, 1795, 6550},
})

// Patterns of the names of a constraint and of a NOT NULL column in a message.
var (
	constraint = regexp.MustCompile(`\(([\pL\pN_$#]+\.[\pL\pN_$#]+)\)`)
	column     = regexp.MustCompile(`\("([\pL\pN_$#]+)"\."([\pL\pN_$#]+)"\."([\pL\pN_$#]+)"\)`)
)

// detail returns the number of an error and the name of the constraint or column. The
// rest of a message may quote values.
func detail(err error) string {
	var e *network.OracleError
	if !errors.As(err, &e) {
		if driver.KindOf(driver.TranslateNetwork(err)) == driver.Connection {
			return err.Error() // a network error, which contains at most addresses
		}
		return ""
	}
	text := fmt.Sprintf("ORA-%05d", e.ErrCode)
	switch e.ErrCode {
	case 1, 2290, 2291, 2292:
		if m := constraint.FindStringSubmatch(e.ErrMsg); m != nil {
			text += " " + m[1]
		}
	case 1400, 1407:
		if m := column.FindStringSubmatch(e.ErrMsg); m != nil {
			text += " " + m[1] + "." + m[2] + "." + m[3]
		}
	}
	return text
}
