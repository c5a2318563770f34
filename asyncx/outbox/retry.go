package outbox

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/plinthgo/plinth/core/common/xretry"
	dbdriver "github.com/plinthgo/plinth/core/major/xdb/driver"
)

const (
	// conflictTries is the maximum number of tries of a statement that fails with a
	// deadlock or lock timeout. The pause between two tries is random; its limit is
	// firstPause at first, and doubles.
	conflictTries = 8
	firstPause    = 2 * time.Millisecond

	// outagePause is the pause after the first failure of an outage. It doubles up to
	// longestPause.
	outagePause  = 50 * time.Millisecond
	longestPause = 2 * time.Second
)

// retryConflicts retries do after deadlocks and lock timeouts.
func retryConflicts(ctx context.Context, do func() error) (err error) {
	pause := firstPause
	for range conflictTries {
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
