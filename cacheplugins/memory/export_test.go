package memory

import "github.com/plinthgo/plinth/core/major/xcache/driver"

// StopSweeper ends the goroutine that removes what has expired, as if it never ran again.
func StopSweeper(s driver.Store) {
	own := s.(*store)
	close(own.stop)
	own.sweeper.Wait()
	own.stop = make(chan struct{}) // Close closes it
}
