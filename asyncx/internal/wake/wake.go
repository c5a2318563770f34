// Package wake is how the workers of a process hear of jobs that it has stored.
package wake

import (
	"slices"
	"sync"
)

// Workers tells the workers of a process of jobs that it has stored. The zero value is
// ready to use, and it is safe for concurrent use.
type Workers struct {
	mu  sync.Mutex
	all []chan struct{}
}

// Listen returns a channel that Wake fills, until leave is called.
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

// Wake tells every worker.
func (w *Workers) Wake() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.all {
		select {
		case c <- struct{}{}:
		default: // it has not looked since the last one
		}
	}
}
