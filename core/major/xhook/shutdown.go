package xhook

import (
	"context"
	"errors"
)

// Shutdown runs the shutdown hooks, all of them at the same time, until the last has ended or ctx has; their errors are
// joined. The state is at least StateDraining from then on. A second call finds nothing to run.
func (l *Lifecycle) Shutdown(ctx context.Context) error {
	if l == nil {
		return nil
	}
	l.advance(StateDraining)
	ended := make(chan error)
	var errs []error
	for running := 0; ; {
		for _, h := range l.takeShutdown(running) {
			running++
			go func() { ended <- h.call(ctx, "shutdown") }()
		}
		if running == 0 {
			return errors.Join(errs...)
		}
		select {
		case err := <-ended:
			running--
			errs = append(errs, err)
		case <-l.added: // a hook that is added meanwhile does not wait for the others
		}
	}
}

// takeShutdown removes and returns the hooks that wait; without one the phase is over, unless some are running.
func (l *Lifecycle) takeShutdown(running int) []hook {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := l.hooks[phaseShutdown]
	l.hooks[phaseShutdown] = nil
	if running == 0 && len(list) == 0 {
		l.done[phaseShutdown] = true
	}
	return list
}
