package xhook

import (
	"cmp"
	"context"
	"errors"
)

// State is the stage of a life. It only moves forward.
type State uint32

// The stages of a life.
const (
	// StateStarting lasts until the ready hooks have run and every hold is released.
	StateStarting State = iota
	// StateReady is the normal state.
	StateReady
	// StateDraining begins with the stop; the service still serves.
	StateDraining
	// StateStopped begins when the last request and the last task have ended.
	StateStopped
)

// String returns the state as the readiness answer shows it.
func (s State) String() string { return [...]string{"starting", "ready", "draining", "stopped"}[s] }

// State returns the current stage; that of a nil life is StateStarting.
func (l *Lifecycle) State() State {
	if l == nil {
		return StateStarting
	}
	return State(l.state.Load())
}

// advance moves the state forward, never back.
func (l *Lifecycle) advance(to State) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.advanceLocked(to)
}

// advanceLocked is advance for who holds the lock.
func (l *Lifecycle) advanceLocked(to State) {
	from := l.State()
	if to <= from {
		return
	}
	if to == StateReady {
		close(l.readied)
	}
	if from < StateDraining && to >= StateDraining {
		close(l.draining)
	}
	l.state.Store(uint32(to))
}

// Draining is the package function Draining for this life.
func (l *Lifecycle) Draining() <-chan struct{} {
	if l == nil {
		return nil
	}
	return l.draining
}

// Readied is the package function Readied for this life.
func (l *Lifecycle) Readied() <-chan struct{} {
	if l == nil {
		return nil
	}
	return l.readied
}

// errFailed stands for a failure without an error.
var errFailed = errors.New("the service was asked to fail")

// Fail is the package function Fail for this life. The first error is the one that
// counts.
func (l *Lifecycle) Fail(err error) bool {
	if l == nil {
		return false
	}
	l.fail(cmp.Or(err, errFailed))
	return true
}

// Failed returns a channel that is closed by the first Fail.
func (l *Lifecycle) Failed() <-chan struct{} { return l.failure.Done() }

// Err returns the error of the first Fail, or nil.
func (l *Lifecycle) Err() error { return context.Cause(l.failure) }
