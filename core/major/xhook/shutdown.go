package xhook

import (
	"context"
	"errors"
	"sync"
)

// Shutdown runs the shutdown hooks, all of them at the same time, until the last has ended or ctx has; their errors are
// joined. The state is at least StateDraining from then on. A second call finds nothing to run.
func (l *Lifecycle) Shutdown(ctx context.Context) error {
	l.advance(StateDraining)
	var (
		running sync.WaitGroup
		mu      sync.Mutex
		errs    []error
	)
	for h, ok := l.take(phaseShutdown); ok; h, ok = l.take(phaseShutdown) {
		running.Go(func() {
			err := h.call(ctx, phaseShutdown)
			mu.Lock()
			defer mu.Unlock()
			errs = append(errs, err)
		})
	}
	running.Wait()
	return errors.Join(errs...)
}
