package mysql

import (
	"gorm.io/gorm"

	leasedriver "github.com/plinthgo/plinth/core/common/xlease/driver"
)

// NowMicros implements driver.Clock. UNIX_TIMESTAMP would read the time in the session's
// zone, in which an hour of autumn comes twice.
func (Driver) NowMicros() string {
	return "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))"
}

// Dual implements driver.Clock.
func (Driver) Dual() string { return "" }

// Scope implements driver.Clock.
func (Driver) Scope(*gorm.DB) leasedriver.Scope { return leasedriver.Cluster }
