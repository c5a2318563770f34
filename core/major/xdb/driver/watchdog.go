package driver

import (
	"context"
	"sync"
	"time"
)

// Watchdog calls abort if the caller has not called stop within timeout after ctx ended.
// stop may be called more than once. Use it for a library that ignores the context while
// it waits for the server: abort closes the underlying connection.
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
