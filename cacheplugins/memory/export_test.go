package memory

import "github.com/plinthgo/plinth/core/major/xcache/driver"

// StopSweeper stops the sweeper goroutine.
func StopSweeper(s driver.Store) {
	own := s.(*store)
	close(own.stop)
	own.sweeper.Wait()
	own.stop = make(chan struct{}) // Close closes it
}
