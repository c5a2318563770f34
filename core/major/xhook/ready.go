package xhook

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// errStopping is why a stop ends the wait for holds.
var errStopping = errors.New("the stop has begun")

// hold is one reason not to report ready yet.
type hold struct {
	name     string
	released context.Context // ends with the release
}

// HoldReady keeps the service from reporting ready until release is called. It is for a
// task that must listen first, or be warm: the task takes its hold before anything else
// and releases it when it is. The name tells people who holds.
//
// held is false where ctx belongs to no application, and where the service is ready
// already or stops. release is never nil and may be called any number of times, from any
// goroutine. A task that cannot go on calls Fail, which ends the wait.
func HoldReady(ctx context.Context, name string) (release func(), held bool) {
	return From(ctx).HoldReady(name)
}

// HoldReady is the package function HoldReady for this life.
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

// Ready waits until every hold is released, runs the ready hooks as Start runs its hooks,
// and waits for the holds that were taken in the meantime; then the state becomes
// StateReady.
//
// A failure, before or in the meantime, is the error that Ready returns. If ctx ends
// during a wait, or the stop begins, the error names the holds that are open. In all
// these cases the state does not become StateReady.
func (l *Lifecycle) Ready(ctx context.Context) error {
	if err := l.awaitHolds(ctx, StateStarting); err != nil {
		return err
	}
	if err := l.run(ctx, phaseReady); err != nil {
		return err
	}
	return l.awaitHolds(ctx, StateReady)
}

// awaitHolds sets the state to next when no hold is open, or returns the reason why the
// wait is in vain. A failure goes before all else.
func (l *Lifecycle) awaitHolds(ctx context.Context, next State) error {
	var why error
	for {
		open, failure := l.openHolds(next)
		switch {
		case failure != nil:
			return failure
		case len(open) == 0:
			return nil
		case why != nil:
			return fmt.Errorf("not ready: held by %s: %w", names(open), why)
		}
		select {
		case <-open[0].released.Done():
		case <-l.Failed():
		case <-l.draining:
			why = errStopping
		case <-ctx.Done():
			why = context.Cause(ctx)
		}
	}
}

// openHolds returns the open holds and the failure of the service. Without either it sets
// the state to next, before another hold can be taken.
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

// names quotes the names of holds.
func names(holds []hold) string {
	list := make([]string, 0, len(holds))
	for _, h := range holds {
		list = append(list, strconv.Quote(h.name))
	}
	return strings.Join(list, ", ")
}
