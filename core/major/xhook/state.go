package xhook

import (
	"cmp"
	"context"
	"errors"
)

// State is a stage of a Lifecycle. A Lifecycle only changes to a later stage.
type State uint32

// The stages of a Lifecycle.
const (
	// StateStarting lasts until the ready hooks have run and every hold is released.
	StateStarting State = iota
	// StateReady means that the service accepts and serves requests.
	StateReady
	// StateDraining means that the shutdown has started. The service still serves
	// requests.
	StateDraining
	// StateStopped means that all requests and tasks have finished.
	StateStopped
)

// String returns the state as shown in the readiness response.
func (s State) String() string { return [...]string{"starting", "ready", "draining", "stopped"}[s] }

// State returns the current state. It returns StateStarting for a nil Lifecycle.
func (l *Lifecycle) State() State {
	if l == nil {
		return StateStarting
	}
	return State(l.state.Load())
}

// advance sets the state if to is a later state.
func (l *Lifecycle) advance(to State) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.advanceLocked(to)
}

// advanceLocked is advance for callers that hold l.mu.
func (l *Lifecycle) advanceLocked(to State) {
	from := l.State()
	if to <= from {
		return
	}
	if to == StateReady {
		close(l.ready)
	}
	if from < StateDraining && to >= StateDraining {
		close(l.draining)
	}
	l.state.Store(uint32(to))
}

// Draining returns the drain channel of l; see the package function.
func (l *Lifecycle) Draining() <-chan struct{} {
	if l == nil {
		return nil
	}
	return l.draining
}

// Ready returns the ready channel of l; see the package function.
func (l *Lifecycle) Ready() <-chan struct{} {
	if l == nil {
		return nil
	}
	return l.ready
}

// errFailed replaces a nil error passed to Fail.
var errFailed = errors.New("xhook: Fail called with a nil error")

// Fail records err; see the package function. Later errors are ignored.
func (l *Lifecycle) Fail(err error) bool {
	if l == nil {
		return false
	}
	l.fail(cmp.Or(err, errFailed))
	return true
}

// Failed returns a channel that the first call of Fail closes.
func (l *Lifecycle) Failed() <-chan struct{} { return l.failure.Done() }

// Err returns the error of the first call of Fail, or nil.
func (l *Lifecycle) Err() error { return context.Cause(l.failure) }
