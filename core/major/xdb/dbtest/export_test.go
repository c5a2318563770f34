package dbtest

import (
	"testing"

	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

// Silence is a network in front of the server of parts that can fall silent and speak again.
func Silence(tb testing.TB, parts driver.Config) (inFront driver.Config, silence, speak func()) {
	tb.Helper()
	r := beginRelay(tb, parts, "127.0.0.1:0")
	return r.inFrontOf(tb, parts), r.silence, r.speak
}
