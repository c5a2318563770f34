package xhelper

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// DefaultRequestTimeout is the time that a request may take if Config.RequestTimeout is not set.
const DefaultRequestTimeout = 30 * time.Second

// deadline is the context of the server with the deadline of the request.
//
// The timer starts when a caller first needs the Done channel, so that a request which does not ask for
// it pays nothing. A deadline of context.WithDeadline could not be lifted when the request becomes a
// stream, of which contexts may have been derived before.
type deadline struct {
	context.Context           // of the server
	at              time.Time // zero: no deadline

	mu      sync.Mutex
	lifted  bool
	timer   *time.Timer
	expiry  expiry
	current context.Context //nolint:containedctx // what callers wait for, once armed
	cancel  context.CancelFunc
	armed   atomic.Bool // current is set, and does not change any more
}

// begin is called once, before the context is in use.
func (d *deadline) begin(server context.Context, at time.Time) {
	d.Context = server
	if parent, ok := server.Deadline(); !ok || at.Before(parent) {
		d.at = at
	}
}

// Deadline implements context.Context.
func (d *deadline) Deadline() (time.Time, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.at.IsZero() || d.lifted {
		return d.Context.Deadline()
	}
	return d.at, true
}

// Done implements context.Context.
func (d *deadline) Done() <-chan struct{} { return d.arm().Done() }

// Err implements context.Context.
func (d *deadline) Err() error {
	if !d.armed.Load() && (d.at.IsZero() || time.Now().Before(d.at)) {
		return d.Context.Err()
	}
	current := d.arm()
	if err := d.Context.Err(); err != nil && current != d.Context {
		d.end(err) // which context.AfterFunc does a moment later
	}
	return current.Err()
}

// Value implements context.Context. Package context finds by it that current cancels contexts which are
// derived of this one.
func (d *deadline) Value(key any) any {
	if d.armed.Load() {
		return d.current.Value(key)
	}
	return d.Context.Value(key)
}

// arm returns the context that ends with the server's and at the deadline.
func (d *deadline) arm() context.Context {
	if d.armed.Load() {
		return d.current
	}
	if d.at.IsZero() {
		return d.Context
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.armed.Load():
		return d.current
	case d.lifted:
		return d.Context
	}
	d.expiry = expiry{Context: d.Context, done: make(chan struct{})}
	d.current, d.cancel = context.WithCancel(&d.expiry)
	if err := d.Context.Err(); err != nil {
		d.end(err)
	} else if left := time.Until(d.at); left <= 0 {
		d.end(context.DeadlineExceeded)
	} else {
		context.AfterFunc(d.Context, func() { d.end(d.Context.Err()) })
		d.timer = time.AfterFunc(left, func() { d.end(context.DeadlineExceeded) })
	}
	d.armed.Store(true)
	return d.current
}

// end ends current with err.
func (d *deadline) end(err error) {
	d.expiry.end(err)
	d.cancel()
}

// lift removes the deadline.
func (d *deadline) lift() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lifted = true
	if d.timer != nil {
		d.timer.Stop()
	}
}

// expiry is the parent of deadline.current. It ends by end only.
type expiry struct {
	context.Context // for its values

	mu     sync.Mutex
	done   chan struct{}
	err    error
	notify func()
}

// Done implements context.Context.
func (e *expiry) Done() <-chan struct{} { return e.done }

// Err implements context.Context.
func (e *expiry) Err() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.err
}

// AfterFunc is called by context.WithCancel, once, which otherwise needs a goroutine.
func (e *expiry) AfterFunc(f func()) (stop func() bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.notify = f
	return func() bool { return false } // current is not canceled in another way
}

// end ends the context with err, unless it has ended.
func (e *expiry) end(err error) {
	e.mu.Lock()
	if e.err != nil {
		e.mu.Unlock()
		return
	}
	e.err = err
	close(e.done)
	e.mu.Unlock()
	e.notify()
}
