// Package lanes does several things at the same time and no more of them: they are of
// very different lengths, and much of each is waiting for a server, a disk, a linker or
// for time to pass.
package lanes

import (
	"errors"
	"sync"
)

// Each calls do for every item, beginning in their order, for n of them at the same time.
// It returns the errors in the order of the items.
func Each[T any](n int, items []T, do func(T) error) error {
	problems := make([]error, len(items))
	next := make(chan int)
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			for i := range next {
				problems[i] = do(items[i])
			}
		})
	}
	for i := range items {
		next <- i
	}
	close(next)
	all.Wait()
	return errors.Join(problems...)
}
