package outbox

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/plinthgo/plinth/core/common/xretry"
	dbdriver "github.com/plinthgo/plinth/core/major/xdb/driver"
)

const (
	// tries is the maximum number of attempts after deadlocks and lock timeouts. The
	// pause between them is random, and its limit doubles from firstPause.
	tries      = 8
	firstPause = 2 * time.Millisecond

	// outagePause is the pause after the first failure of an outage. It doubles up to
	// longestPause.
	outagePause  = 50 * time.Millisecond
	longestPause = 2 * time.Second
)

// again retries do after deadlocks and lock timeouts.
func again(ctx context.Context, do func() error) (err error) {
	pause := firstPause
	for range tries {
		if err = do(); !isConflict(err) || xretry.Sleep(ctx, jitter(pause)) != nil {
			return err
		}
		pause *= 2
	}
	return err
}

// isConflict reports whether err is a deadlock or lock timeout.
func isConflict(err error) bool {
	kind := dbdriver.KindOf(err)
	return kind == dbdriver.Deadlock || kind == dbdriver.LockTimeout
}

// jitter returns a random duration of at most d.
func jitter(d time.Duration) time.Duration {
	return rand.N(d) + 1
}
