package xutil

// RunningHashes is the number of password hashes that are being computed.
func RunningHashes() int { return len(running) }

// MaxWaitingHashes is the number of callers that may wait for a hash.
var MaxWaitingHashes = cap(admitted) - cap(running)

// OccupyHashes takes all places for hashes until release.
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
