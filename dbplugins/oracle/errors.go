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

// kinds is the error table.
//
// A listener answers ORA-12514 and 12505 for a service that it does not know, which is also one whose database is starting:
// waiting may mend that, and a container that starts together with its database must not give up.
var kinds = map[int]driver.ErrorKind{
	1:     driver.Unique,
	2291:  driver.ForeignKey, // no parent
	2292:  driver.ForeignKey, // a child
	2290:  driver.Check,
	1400:  driver.NotNull, // insert
	1407:  driver.NotNull, // update
	1401:  driver.TooLong,
	1461:  driver.TooLong,
	1489:  driver.TooLong,
	12899: driver.TooLong,
	22835: driver.TooLong, // a CLOB for a VARCHAR2
	1426:  driver.OutOfRange,
	1438:  driver.OutOfRange,
	1455:  driver.OutOfRange,
	1476:  driver.OutOfRange, // a division by zero
	1839:  driver.OutOfRange, // 30 February
	1841:  driver.OutOfRange,
	1843:  driver.OutOfRange,
	1847:  driver.OutOfRange,
	1850:  driver.OutOfRange,
	1851:  driver.OutOfRange,
	1852:  driver.OutOfRange,
	1465:  driver.Malformed,
	1722:  driver.Malformed,
	1830:  driver.Malformed,
	1840:  driver.Malformed,
	1858:  driver.Malformed,
	1861:  driver.Malformed,
	6502:  driver.Malformed,
	29275: driver.Malformed,
	60:    driver.Deadlock,
	4020:  driver.Deadlock,
	8177:  driver.Deadlock,
	54:    driver.LockTimeout,
	4021:  driver.LockTimeout,
	30006: driver.LockTimeout,
	1013:  driver.Canceled,
	1005:  driver.Authentication,
	1017:  driver.Authentication,
	1045:  driver.Authentication,
	28000: driver.Authentication,
	28001: driver.Authentication,
	1031:  driver.Authentication, // no privilege
	41900: driver.Authentication, // the same in 23ai
	28:    driver.Connection,     // the session was killed
	31:    driver.Connection,
	1012:  driver.Connection,
	1014:  driver.Connection,
	1033:  driver.Connection, // starting or stopping
	1034:  driver.Connection,
	1089:  driver.Connection,
	1090:  driver.Connection,
	1092:  driver.Connection,
	1109:  driver.Connection, // not open yet
	2396:  driver.Connection, // idle for too long
	2399:  driver.Connection, // connected for too long
	3113:  driver.Connection,
	3114:  driver.Connection,
	3135:  driver.Connection,
	28547: driver.Connection,
	18:    driver.TooManyConnections, // sessions
	20:    driver.TooManyConnections, // processes
	2391:  driver.TooManyConnections, // sessions of the user
	16000: driver.ReadOnly,
	1456:  driver.ReadOnly,
	1536:  driver.Full, // the user's quota
	1652:  driver.Full, // a tablespace cannot be extended: for a sort, a table, an index, a LOB or the undo
	1653:  driver.Full,
	1654:  driver.Full,
	1658:  driver.Full,
	1683:  driver.Full,
	1688:  driver.Full,
	1691:  driver.Full,
	1692:  driver.Full,
	30036: driver.Full,
	1756:  driver.Syntax,
	1789:  driver.Syntax,
	1790:  driver.Syntax,
	1795:  driver.Syntax,
	6550:  driver.Syntax, // a block that does not compile
}

// The names that a message may hold, which are no values: of a constraint, and of a column that is not null.
var (
	constraint = regexp.MustCompile(`\(([\pL\pN_$#]+\.[\pL\pN_$#]+)\)`)
	column     = regexp.MustCompile(`\("([\pL\pN_$#]+)"\."([\pL\pN_$#]+)"\."([\pL\pN_$#]+)"\)`)
)

// detail returns the number of an error, and the constraint or column that it names. The rest of a message may quote values.
func detail(err error) string {
	var e *network.OracleError
	if !errors.As(err, &e) {
		if driver.Network(err) == driver.Connection {
			return err.Error() // of the network: addresses at most
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
