package postgres

import (
	"gorm.io/gorm"

	leasedriver "github.com/plinthgo/plinth/core/common/xlease/driver"
)

// NowMicros implements driver.Clock. now() would be the time at which the transaction
// began.
func (Driver) NowMicros() string {
	return "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS bigint)"
}

// Dual implements driver.Clock.
func (Driver) Dual() string { return "" }

// Scope implements driver.Clock.
func (Driver) Scope(*gorm.DB) leasedriver.Scope { return leasedriver.Cluster }
