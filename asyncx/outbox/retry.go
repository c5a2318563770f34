package outbox

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/plinthgo/plinth/core/common/xretry"
	dbdriver "github.com/plinthgo/plinth/core/major/xdb/driver"
)

const (
	// tries bounds how often a statement is repeated that the database gave up for
	// another's sake. In between is a random pause of at most firstPause, which doubles.
	tries      = 8
	firstPause = 2 * time.Millisecond

	// outagePause is the pause after the first failure of an outage. It doubles up to
	// longestPause.
	outagePause  = 50 * time.Millisecond
	longestPause = 2 * time.Second
)

// again calls do until the database does not give it up for another's sake any more.
func again(ctx context.Context, do func() error) (err error) {
	pause := firstPause
	for range tries {
		if err = do(); !gaveWay(err) || xretry.Sleep(ctx, jitter(pause)) != nil {
			return err
		}
		pause *= 2
	}
	return err
}

// gaveWay reports whether a statement has changed nothing because another was in its way.
func gaveWay(err error) bool {
	kind := dbdriver.KindOf(err)
	return kind == dbdriver.Deadlock || kind == dbdriver.LockTimeout
}

// jitter returns a random time of at most d.
func jitter(d time.Duration) time.Duration {
	return rand.N(d) + 1
}
