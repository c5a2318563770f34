package xutil

func RunningHashes() int { return len(running) }

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
