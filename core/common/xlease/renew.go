package xlease

import (
	"context"
	"time"

	"github.com/plinthgo/plinth/core/common/xretry"
)

// minPause keeps a failing backend from being asked without a pause.
const minPause = 10 * time.Millisecond

// renew renews after a third of the time that is left, so that a failure is followed by further attempts at ever shorter
// intervals, until the lease has ended.
func (l *Lease) renew() {
	for {
		third := max(time.Until(l.Until())/3, minPause)
		if xretry.Sleep(l.life, third) != nil {
			return
		}
		attempt, cancel := context.WithTimeout(l.life, third)
		_ = l.Renew(attempt) // where the lease lasts, the next attempt follows
		cancel()
	}
}
