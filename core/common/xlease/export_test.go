package xlease

import "time"

// Suspend lets the wall clock run on by d without the monotonic clock, as on a machine
// that sleeps. For a lease it is the same to move its end the other way.
func (l *Lease) Suspend(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.until.wall = l.until.wall.Add(-d)
}

// Open is how many leases Close would release.
func (l *Leases) Open() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.open)
}
