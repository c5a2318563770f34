package sqlite

import (
	"strings"

	"gorm.io/gorm"

	leasedriver "github.com/plinthgo/plinth/core/common/xlease/driver"
)

// NowMicros implements driver.Clock. SQLite's own time is in whole milliseconds.
func (Driver) NowMicros() string {
	return "(CAST(ROUND(unixepoch('now', 'subsec') * 1000) AS INTEGER) * 1000)"
}

// Dual implements driver.Clock.
func (Driver) Dual() string { return "" }

// Scope implements driver.Clock. A file on a network is not one that several hosts may
// open: its locks do not hold there.
func (Driver) Scope(db *gorm.DB) leasedriver.Scope {
	d, ok := db.Dialector.(*dialector)
	if ok && (strings.Contains(d.DSN, memory) || strings.Contains(d.DSN, "mode=memory") ||
		strings.Contains(d.DSN, "vfs=memdb")) {
		return leasedriver.Process
	}
	return leasedriver.Host
}
