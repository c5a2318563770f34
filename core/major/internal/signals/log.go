package signals

import "time"

const (
	// Grace is what a stop may take beyond the shutdown timeout: an orderly stop that runs into
	// its timeout still has to close its nodes and its log.
	Grace = 2 * time.Second

	// maxLog is how long Log waits.
	maxLog = 250 * time.Millisecond
)

// Log runs write, which writes to the log, and returns when it has returned, at the latest
// after a quarter of a second. It is for a goroutine that must not block.
func Log(write func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		write()
	}()
	select {
	case <-done:
	case <-time.After(maxLog):
	}
}
