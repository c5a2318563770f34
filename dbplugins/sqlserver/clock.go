package sqlserver

import (
	"gorm.io/gorm"

	leasedriver "github.com/plinthgo/plinth/core/common/xlease/driver"
)

// NowMicros implements driver.Clock.
func (Driver) NowMicros() string {
	return "DATEDIFF_BIG(MICROSECOND, '19700101', SYSUTCDATETIME())"
}

// Dual implements driver.Clock.
func (Driver) Dual() string { return "" }

// Scope implements driver.Clock.
func (Driver) Scope(*gorm.DB) leasedriver.Scope { return leasedriver.Cluster }
