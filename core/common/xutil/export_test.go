package xutil

// RunningHashes returns the number of hashes in progress.
func RunningHashes() int { return len(running) }

// MaxWaitingHashes is the maximum number of waiting callers.
var MaxWaitingHashes = cap(admitted) - cap(running)

// OccupyHashes occupies all hash slots until release is called.
func OccupyHashes() (release func()) {
	for range cap(running) {
		admitted <- struct{}{}
		running <- struct{}{}
	}
	return func() {
		for range cap(running) {
			<-running
			<-admitted
		}
	}
}
