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

	mu     sync.Mutex
	lifted bool
	armed  atomic.Pointer[alarm] // does not change any more once it is set
}

// alarm is what callers of an armed deadline wait for. Most requests need none.
type alarm struct {
	context.Context // which callers wait for
	cancel          context.CancelFunc
	expiry          expiry
	timer           *time.Timer
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
func (d *deadline) Done() <-chan struct{} {
	if a := d.arm(); a != nil {
		return a.Done()
	}
	return d.Context.Done()
}

// Err implements context.Context.
func (d *deadline) Err() error {
	a := d.armed.Load()
	if a == nil && !d.at.IsZero() && !time.Now().Before(d.at) {
		a = d.arm()
	}
	err := d.Context.Err()
	if a == nil {
		return err
	}
	if err != nil {
		a.end(err) // which context.AfterFunc does a moment later
	}
	return a.Err()
}

// Value implements context.Context. Package context finds by it that an alarm cancels contexts which are
// derived of this one.
func (d *deadline) Value(key any) any {
	if a := d.armed.Load(); a != nil {
		return a.Value(key)
	}
	return d.Context.Value(key)
}

// arm returns the alarm, or nil if the deadline was lifted before or there is none.
func (d *deadline) arm() *alarm {
	if a := d.armed.Load(); a != nil || d.at.IsZero() {
		return a
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if a := d.armed.Load(); a != nil || d.lifted {
		return a
	}
	a := &alarm{expiry: expiry{Context: d.Context, done: make(chan struct{})}}
	a.Context, a.cancel = context.WithCancel(&a.expiry)
	if err := d.Context.Err(); err != nil {
		a.end(err)
	} else if left := time.Until(d.at); left <= 0 {
		a.end(context.DeadlineExceeded)
	} else {
		context.AfterFunc(d.Context, func() { a.end(d.Context.Err()) })
		a.timer = time.AfterFunc(left, func() { a.end(context.DeadlineExceeded) })
	}
	d.armed.Store(a)
	return a
}

// lift removes the deadline.
func (d *deadline) lift() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lifted = true
	if a := d.armed.Load(); a != nil && a.timer != nil {
		a.timer.Stop()
	}
}

// end ends what callers wait for with err.
func (a *alarm) end(err error) {
	a.expiry.end(err)
	a.cancel()
}

// expiry is the parent of the context of an alarm. It ends by end only.
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
	return func() bool { return false } // the alarm is not canceled in another way
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
