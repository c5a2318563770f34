// Package wake notifies the workers of a process when the process stores jobs.
package wake

import (
	"slices"
	"sync"
)

// Workers notifies workers. The zero value is ready to use. It is safe for concurrent
// use.
type Workers struct {
	mu  sync.Mutex
	all []chan struct{}
}

// Listen returns a channel that receives a value after each Wake, until leave is called.
func (w *Workers) Listen() (wake chan struct{}, leave func()) {
	c := make(chan struct{}, 1)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = append(w.all, c)
	return c, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.all = slices.DeleteFunc(w.all, func(other chan struct{}) bool { return other == c })
	}
}

// Wake notifies all workers.
func (w *Workers) Wake() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.all {
		select {
		case c <- struct{}{}:
		default: // a notification is pending
		}
	}
}
