// Package lanes runs functions concurrently with a limit.
package lanes

import (
	"errors"
	"sync"
)

// Each calls do for all items, in order and at most n at a time. It returns the errors in
// the order of the items.
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
