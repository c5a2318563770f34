package outbox

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	database "github.com/plinthgo/plinth/core/major/xdb/driver"
)

const (
	// tries bounds how often a statement is repeated that the database gave up for another's sake. In between is a random
	// pause of at most firstPause, which doubles.
	tries      = 8
	firstPause = 2 * time.Millisecond

	// outagePause is the pause after the first failure of an outage. It doubles up to longestPause.
	outagePause  = 50 * time.Millisecond
	longestPause = 2 * time.Second

	// tellPause is the time between two reports of one outage.
	tellPause = time.Minute
)

// again calls do until the database does not give it up for another's sake any more.
func again(ctx context.Context, do func() error) (err error) {
	pause := firstPause
	for range tries {
		if err = do(); !gaveWay(err) || !sleep(ctx, jitter(pause)) {
			return err
		}
		pause *= 2
	}
	return err
}

// gaveWay reports whether a statement has changed nothing because another was in its way.
func gaveWay(err error) bool {
	kind := database.KindOf(err)
	return kind == database.Deadlock || kind == database.LockTimeout
}

// jitter returns a random time of at most d.
func jitter(d time.Duration) time.Duration {
	return rand.N(d) + 1 //nolint:gosec // a spread is no secret
}

// sleep waits for d; it returns false where ctx ends first.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// outages tells of what fails: once when it begins, and each minute while it goes on.
type outages struct {
	failed func(ctx context.Context, what string, err error)

	mu   sync.Mutex
	told map[string]time.Time // when the outage of an operation was told last
}

// result takes the end of an operation.
func (o *outages) result(ctx context.Context, what string, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err == nil {
		delete(o.told, what)
		return
	}
	if last, down := o.told[what]; down && time.Since(last) < tellPause {
		return
	}
	o.told[what] = time.Now()
	o.tell(ctx, what, err)
}

// tell tells of what is no outage.
func (o *outages) tell(ctx context.Context, what string, err error) {
	if o.failed != nil {
		o.failed(ctx, what, err)
	}
}
