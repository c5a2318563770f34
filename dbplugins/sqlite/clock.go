package sqlite

import (
	"strings"

	"gorm.io/gorm"

	leasedriver "github.com/plinthgo/plinth/core/common/xlease/driver"
)

// NowMicros implements driver.Clock. The clock of SQLite has a resolution of one
// millisecond.
func (Driver) NowMicros() string {
	return "(CAST(ROUND(unixepoch('now', 'subsec') * 1000) AS INTEGER) * 1000)"
}

// Dual implements driver.Clock.
func (Driver) Dual() string { return "" }

// Scope implements driver.Clock. A database file cannot be shared by hosts, because file
// locks on a network file system are unreliable.
func (Driver) Scope(db *gorm.DB) leasedriver.Scope {
	d, ok := db.Dialector.(*dialector)
	if ok && (strings.Contains(d.DSN, memory) || strings.Contains(d.DSN, "mode=memory") ||
		strings.Contains(d.DSN, "vfs=memdb")) {
		return leasedriver.Process
	}
	return leasedriver.Host
}
