package memory

import "github.com/plinthgo/plinth/core/major/xcache/driver"

// StopSweeper stops the sweeper goroutine.
func StopSweeper(s driver.Store) {
	st := s.(*store)
	close(st.stop)
	st.sweeper.Wait()
	st.stop = make(chan struct{}) // Close closes it
}
