package mysql

import (
	"gorm.io/gorm"

	leasedriver "github.com/plinthgo/plinth/core/common/xlease/driver"
)

// NowMicros implements driver.Clock. It does not use UNIX_TIMESTAMP, which reads the time
// in the session's time zone: one hour is ambiguous at the end of daylight saving time.
func (Driver) NowMicros() string {
	return "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))"
}

// Dual implements driver.Clock.
func (Driver) Dual() string { return "" }

// Scope implements driver.Clock.
func (Driver) Scope(*gorm.DB) leasedriver.Scope { return leasedriver.Cluster }
