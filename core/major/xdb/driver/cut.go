package driver

import (
	"context"
	"sync"
	"time"
)

// CutAfter calls cut where what is under way has not ended in the grace after the end of ctx. The caller calls end when it
// has; more than once is harmless. It is for a library that waits for an answer of the server whatever its context says: cut
// closes the connection below it.
func CutAfter(ctx context.Context, grace time.Duration, cut func()) (end func()) {
	if ctx.Done() == nil {
		return func() {}
	}
	over := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		timer := time.NewTimer(grace)
		defer timer.Stop()
		select {
		case <-timer.C:
			cut()
		case <-over:
		}
	})
	return sync.OnceFunc(func() {
		close(over)
		stop()
	})
}
