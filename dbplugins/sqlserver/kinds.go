package sqlserver

import "github.com/plinthgo/plinth/core/major/xdb/driver"

// kinds maps error numbers of sys.messages to kinds.
var kinds = driver.KindTable(map[driver.ErrorKind][]int32{
	driver.Unique:      {2601, 2627},
	driver.NotNull:     {515},
	driver.TooLong:     {511, 1135, 1946, 2628, 8152},
	driver.OutOfRange:  {220, 232, 242, 517, 1007, 8023, 8115, 8134, 3623},
	driver.Malformed:   {241, 245, 295, 8114, 8169},
	driver.Deadlock:    {1205, 3960, 3961, 41301, 41302, 41305, 41325},
	driver.LockTimeout: {1222},
	driver.Canceled:    {3617},
	// Unknown user, missing permission, locked account, expired password, firewall.
	driver.Authentication: {
		229, 230, 262, 916, 18452, 18456, 18470, 18486, 18487, 18488, 40615, 40914, 40532,
	},
	driver.UnknownDatabase: {911, 926, 942, 945, 4060, 4063, 4064},
	driver.ReadOnly:        {3906, 3908},
	// The file group, the log or the database is full.
	driver.Full: {1101, 1105, 9002, 40544},
	// The server starts, stops, fails over, is paused or is overloaded, or a replica of
	// an availability group is not readable.
	driver.Connection: {
		21, 64, 233, 596, 701, 802, 921, 922, 924, 6005, 8645, 10053, 10054, 10060, 10928,
		10929, 17142, 17197, 18401, 18451, 40143, 40197, 40501, 40540, 40613, 42108, 42109,
		49918, 49919, 49920, 976, 978, 979, 982, 983, 4221,
	},
	// 17809: 'user connections' of sp_configure
	driver.TooManyConnections: {17809},
	driver.Syntax: {
		102, 103, 104, 105, 107, 137, 145, 156, 170, 178, 206, 207, 208, 209, 213, 214, 257,
		319, 334, 339, 544, 1038, 1087, 1785, 1919, 2705, 2714, 2715, 2812, 3701, 4104, 4121,
		4922, 5074, 8003, 8120, 8127, 8144, 8145, 8178, 8180, 8672, 10743, 10744,
	},
})
