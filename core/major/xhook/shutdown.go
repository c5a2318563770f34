package xhook

import (
	"context"
	"errors"
	"sync"
)

// Shutdown runs the shutdown hooks, all of them at the same time, until the last has
// ended or ctx has; their errors are joined. The state is at least StateDraining from
// then on. A second call finds nothing to run.
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
