package xutil

// RunningHashes returns the number of password hashes in progress.
func RunningHashes() int { return len(running) }

// MaxWaitingHashes is the maximum number of callers that wait for a hash.
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
