package driver

import (
	"context"
	"sync"
	"time"
)

// Watchdog calls abort if the caller has not called stop within the timeout after the end
// of ctx. stop may be called more than once. It is for a library that waits for the
// server whatever its context says: abort closes the connection below it.
func Watchdog(ctx context.Context, timeout time.Duration, abort func()) (stop func()) {
	stopped := make(chan struct{})
	cancel := context.AfterFunc(ctx, func() {
		select {
		case <-time.After(timeout):
			abort()
		case <-stopped:
		}
	})
	return sync.OnceFunc(func() {
		close(stopped)
		cancel()
	})
}
