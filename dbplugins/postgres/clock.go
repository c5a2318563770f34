package postgres

import (
	"gorm.io/gorm"

	leasedriver "github.com/plinthgo/plinth/core/common/xlease/driver"
)

// NowMicros implements driver.Clock. It does not use now(), which returns the start time
// of the transaction.
func (Driver) NowMicros() string {
	return "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS bigint)"
}

// Dual implements driver.Clock.
func (Driver) Dual() string { return "" }

// Scope implements driver.Clock.
func (Driver) Scope(*gorm.DB) leasedriver.Scope { return leasedriver.Cluster }
