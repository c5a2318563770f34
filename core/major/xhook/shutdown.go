package xhook

import (
	"context"
	"errors"
	"sync"
)

// Shutdown sets at least StateDraining and runs the shutdown hooks concurrently. It
// returns when all hooks have returned or ctx is done, and joins their errors. A second
// call runs no hooks.
func (l *Lifecycle) Shutdown(ctx context.Context) error {
	l.advance(StateDraining)
	var hooks []hook
	for h, ok := l.take(phaseShutdown); ok; h, ok = l.take(phaseShutdown) {
		hooks = append(hooks, h)
	}
	errs := make([]error, len(hooks))
	var running sync.WaitGroup
	for i, h := range hooks {
		running.Go(func() { errs[i] = h.call(ctx, phaseShutdown) })
	}
	running.Wait()
	return errors.Join(errs...)
}
