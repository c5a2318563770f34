package sqlserver

import "github.com/plinthgo/plinth/core/major/xdb/driver"

// kinds is the error table: numbers of sys.messages.
var kinds = map[int32]driver.ErrorKind{
	2601: driver.Unique, 2627: driver.Unique,
	515: driver.NotNull,
	511: driver.TooLong, 1135: driver.TooLong, 1946: driver.TooLong, 2628: driver.TooLong, 8152: driver.TooLong,
	220: driver.OutOfRange, 232: driver.OutOfRange, 242: driver.OutOfRange, 517: driver.OutOfRange, 1007: driver.OutOfRange,
	8023: driver.OutOfRange, 8115: driver.OutOfRange, 8134: driver.OutOfRange, 3623: driver.OutOfRange,
	241: driver.Malformed, 245: driver.Malformed, 295: driver.Malformed, 8114: driver.Malformed, 8169: driver.Malformed,
	1205: driver.Deadlock, 3960: driver.Deadlock, 3961: driver.Deadlock, 41301: driver.Deadlock, 41302: driver.Deadlock,
	41305: driver.Deadlock, 41325: driver.Deadlock,
	1222: driver.LockTimeout,
	3617: driver.Canceled,

	// No user, a user who may not, an account that is locked or has to change its password, a firewall.
	229: driver.Authentication, 230: driver.Authentication, 262: driver.Authentication, 916: driver.Authentication,
	18452: driver.Authentication, 18456: driver.Authentication, 18470: driver.Authentication, 18486: driver.Authentication,
	18487: driver.Authentication, 18488: driver.Authentication, 40615: driver.Authentication, 40914: driver.Authentication,
	40532: driver.Authentication,
	911:   driver.UnknownDatabase, 926: driver.UnknownDatabase, 942: driver.UnknownDatabase, 945: driver.UnknownDatabase,
	4060: driver.UnknownDatabase, 4063: driver.UnknownDatabase, 4064: driver.UnknownDatabase,
	3906: driver.ReadOnly, 3908: driver.ReadOnly,

	// The file group, the log or the database itself has no space left.
	1101: driver.Full, 1105: driver.Full, 9002: driver.Full, 40544: driver.Full,

	// The server starts, stops, fails over, is paused or has too much to do.
	21: driver.Connection, 64: driver.Connection, 233: driver.Connection, 596: driver.Connection, 701: driver.Connection,
	802: driver.Connection, 921: driver.Connection, 922: driver.Connection, 924: driver.Connection,
	6005: driver.Connection, 8645: driver.Connection, 10053: driver.Connection, 10054: driver.Connection,
	10060: driver.Connection, 10928: driver.Connection, 10929: driver.Connection, 17142: driver.Connection,
	17197: driver.Connection, 18401: driver.Connection, 18451: driver.Connection, 40143: driver.Connection,
	40197: driver.Connection, 40501: driver.Connection, 40540: driver.Connection, 40613: driver.Connection,
	42108: driver.Connection, 42109: driver.Connection, 49918: driver.Connection, 49919: driver.Connection,
	49920: driver.Connection,

	17809: driver.TooManyConnections, // 'user connections' of sp_configure

	// A replica of an availability group that cannot be read now.
	976: driver.Connection, 978: driver.Connection, 979: driver.Connection, 982: driver.Connection, 983: driver.Connection,
	4221: driver.Connection,

	102: driver.Syntax, 103: driver.Syntax, 104: driver.Syntax, 105: driver.Syntax, 107: driver.Syntax,
	137: driver.Syntax, 145: driver.Syntax, 156: driver.Syntax, 170: driver.Syntax, 178: driver.Syntax,
	206: driver.Syntax, 207: driver.Syntax, 208: driver.Syntax, 209: driver.Syntax, 213: driver.Syntax,
	214: driver.Syntax, 257: driver.Syntax, 319: driver.Syntax, 334: driver.Syntax, 339: driver.Syntax,
	544: driver.Syntax, 1038: driver.Syntax, 1087: driver.Syntax, 1785: driver.Syntax, 1919: driver.Syntax,
	2705: driver.Syntax, 2714: driver.Syntax, 2715: driver.Syntax, 2812: driver.Syntax, 3701: driver.Syntax,
	4104: driver.Syntax, 4121: driver.Syntax, 4922: driver.Syntax, 5074: driver.Syntax, 8003: driver.Syntax,
	8120: driver.Syntax, 8127: driver.Syntax, 8144: driver.Syntax, 8145: driver.Syntax, 8178: driver.Syntax,
	8180: driver.Syntax, 8672: driver.Syntax, 10743: driver.Syntax, 10744: driver.Syntax,
}
