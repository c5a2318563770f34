package oracle

import (
	"strings"

	"gorm.io/gorm"

	leasedriver "github.com/plinthgo/plinth/core/common/xlease/driver"
)

// nowMicros adds the parts of the interval since 1970. SYSTIMESTAMP does not change
// within a statement.
var nowMicros = strings.ReplaceAll(
	"TRUNC(EXTRACT(DAY FROM {d}) * 86400000000 + EXTRACT(HOUR FROM {d}) * 3600000000 + "+
		"EXTRACT(MINUTE FROM {d}) * 60000000 + EXTRACT(SECOND FROM {d}) * 1000000)",
	"{d}", "(SYS_EXTRACT_UTC(SYSTIMESTAMP) - CAST(DATE '1970-01-01' AS TIMESTAMP))")

// NowMicros implements driver.Clock.
func (Driver) NowMicros() string { return nowMicros }

// Dual implements driver.Clock.
func (Driver) Dual() string { return " FROM DUAL" }

// Scope implements driver.Clock.
func (Driver) Scope(*gorm.DB) leasedriver.Scope { return leasedriver.Cluster }
