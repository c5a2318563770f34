package driver

import (
	"gorm.io/gorm"

	leasedriver "github.com/plinthgo/plinth/core/common/xlease/driver"
)

// Clock is implemented by a driver whose database can keep leases, see xdb.Leases. Every time of a lease is one of the
// database, so that the clocks of those who ask for it do not matter.
type Clock interface {
	// NowMicros returns an SQL expression for the microseconds since 1970 in UTC, as a 64-bit integer: the time at which the
	// statement began or later, not that of its transaction, and the same in every time zone of a session. It holds neither
	// ? nor @, which gorm replaces.
	NowMicros() string
	// Dual returns what stands behind the columns of a SELECT that reads no table: " FROM DUAL", or "".
	Dual() string
	// Scope says whose processes can share the database of db.
	Scope(db *gorm.DB) leasedriver.Scope
}
