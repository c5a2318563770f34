package xhook

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

var errShutdown = errors.New("shutdown started")

// hold is one reason to delay readiness.
type hold struct {
	name     string
	released context.Context // done after the release
}

// HoldReady prevents the service from reporting ready until release is called. A task
// that must first listen or warm up calls HoldReady as its first statement, and release
// when it is done. The name identifies the hold in errors.
//
// held is false if ctx belongs to no application, or if the service is already ready or
// stopping. release is never nil, may be called repeatedly, and is safe for concurrent
// use. A task that cannot continue calls Fail, which also stops the wait.
func HoldReady(ctx context.Context, name string) (release func(), held bool) {
	return From(ctx).HoldReady(name)
}

// HoldReady adds a hold to l; see the package function.
func (l *Lifecycle) HoldReady(name string) (release func(), held bool) {
	if l == nil {
		return func() {}, false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.State() != StateStarting {
		return func() {}, false
	}
	released, release := context.WithCancel(context.Background())
	l.holds = append(l.holds, hold{name: name, released: released})
	return release, true
}

// SetReady waits until every hold is released and runs the ready hooks as Start runs the
// start hooks. It then waits for holds that were added in the meantime and sets
// StateReady.
//
// SetReady returns the error of Fail if the service has failed. If ctx is done or the
// shutdown starts during a wait, the error lists the unreleased holds. In these cases the
// state does not become StateReady.
func (l *Lifecycle) SetReady(ctx context.Context) error {
	if err := l.awaitHolds(ctx, StateStarting); err != nil {
		return err
	}
	if err := l.run(ctx, phaseReady); err != nil {
		return err
	}
	return l.awaitHolds(ctx, StateReady)
}

// awaitHolds waits until every hold is released and sets the state to next. It returns an
// error if the service fails, the shutdown starts or ctx is done. A failure of the
// service has precedence.
func (l *Lifecycle) awaitHolds(ctx context.Context, next State) error {
	var cause error
	for {
		open, failure := l.openHolds(next)
		switch {
		case failure != nil:
			return failure
		case len(open) == 0:
			return nil
		case cause != nil:
			return fmt.Errorf("not ready: held by %s: %w", quoteNames(open), cause)
		}
		select {
		case <-open[0].released.Done():
		case <-l.Failed():
		case <-l.draining:
			cause = errShutdown
		case <-ctx.Done():
			cause = context.Cause(ctx)
		}
	}
}

// openHolds returns the unreleased holds and the failure of the service. If neither
// exists, it also sets the state to next while it holds the lock, so that no hold is
// added before the state changes.
func (l *Lifecycle) openHolds(next State) (open []hold, failure error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.holds = slices.DeleteFunc(l.holds, func(h hold) bool { return h.released.Err() != nil })
	failure = l.Err()
	if len(l.holds) == 0 && failure == nil {
		l.advanceLocked(next)
	}
	return slices.Clone(l.holds), failure
}

func quoteNames(holds []hold) string {
	list := make([]string, 0, len(holds))
	for _, h := range holds {
		list = append(list, strconv.Quote(h.name))
	}
	return strings.Join(list, ", ")
}
