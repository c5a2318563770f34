package xhelper

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// DefaultRequestTimeout is the default of Config.RequestTimeout.
const DefaultRequestTimeout = 30 * time.Second

// deadlineContext adds the request timeout to the server's context of a request.
//
// Its timer starts at the first call of Done, so that requests without such a call do not
// pay for it. context.WithDeadline is not suitable, because its deadline cannot be
// removed when the request becomes a stream. At that time contexts may already be derived
// from it.
type deadlineContext struct {
	context.Context // of the server
	exchange        *exchange
	timeout         time.Duration // since the start of the request; no limit if 0 or less

	mu      sync.Mutex // serializes startTimer and remove
	removed atomic.Bool
	timer   atomic.Pointer[timer] // set once
}

type exchangeKey struct{}

// timer cancels ctx at the deadline. It is the parent of ctx, so ctx has the error that
// timer returns. AfterFunc stores the function that cancels ctx, so no goroutine waits
// for the Done channel of timer.
type timer struct {
	context.Context // of the server

	ctx    context.Context
	cancel context.CancelFunc
	notify func()
	timer  *time.Timer
}

// expiry returns the deadline of the request. It returns false if there is no deadline,
// if it was removed, or if the server's deadline is earlier.
func (d *deadlineContext) expiry() (at time.Time, ok bool) {
	if d.timeout <= 0 || d.removed.Load() {
		return time.Time{}, false
	}
	at = d.exchange.request.Start().Add(d.timeout)
	server, earlier := d.Context.Deadline()
	return at, !earlier || at.Before(server)
}

// Deadline implements context.Context.
func (d *deadlineContext) Deadline() (time.Time, bool) {
	if at, ok := d.expiry(); ok {
		return at, true
	}
	return d.Context.Deadline()
}

// Done implements context.Context.
func (d *deadlineContext) Done() <-chan struct{} {
	if t := d.startTimer(); t != nil {
		return t.ctx.Done()
	}
	return d.Context.Done()
}

// Err implements context.Context.
func (d *deadlineContext) Err() error {
	t := d.timer.Load()
	if at, ok := d.expiry(); t == nil && ok && time.Until(at) <= 0 {
		t = d.startTimer()
	}
	if t == nil {
		return d.Context.Err()
	}
	if d.Context.Err() != nil {
		t.fire() // context.AfterFunc does so asynchronously
	}
	return t.ctx.Err()
}

// Value implements context.Context. After the timer started, package context uses it to
// attach derived contexts to the timer's ctx.
func (d *deadlineContext) Value(key any) any {
	if key == (exchangeKey{}) {
		return d.exchange
	}
	if t := d.timer.Load(); t != nil {
		return t.ctx.Value(key)
	}
	return d.Context.Value(key)
}

// startTimer returns the timer and starts it if necessary. It returns nil without a
// deadline, or if the deadline was removed before the timer started.
func (d *deadlineContext) startTimer() *timer {
	if t := d.timer.Load(); t != nil {
		return t
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	at, ok := d.expiry()
	if t := d.timer.Load(); t != nil || !ok {
		return t
	}
	t := &timer{Context: d.Context}
	t.ctx, t.cancel = context.WithCancel(t)
	if left := time.Until(at); left <= 0 || d.Context.Err() != nil {
		t.fire()
	} else {
		context.AfterFunc(d.Context, t.fire)
		t.timer = time.AfterFunc(left, t.fire)
	}
	d.timer.Store(t)
	return t
}

func (d *deadlineContext) remove() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.removed.Store(true)
	if t := d.timer.Load(); t != nil && t.timer != nil {
		t.timer.Stop()
	}
}

// fire cancels ctx and its children. Further calls have no effect.
func (t *timer) fire() {
	t.notify()
	t.cancel()
}

var neverClosed = make(chan struct{})

// Done implements context.Context.
func (t *timer) Done() <-chan struct{} { return neverClosed }

// Err implements context.Context. It is called only after the server's context is done,
// or at the deadline.
func (t *timer) Err() error { return cmp.Or(t.Context.Err(), context.DeadlineExceeded) }

// AfterFunc is called once, by context.WithCancel, which then needs no goroutine.
func (t *timer) AfterFunc(f func()) (stop func() bool) {
	t.notify = f
	return func() bool { return false } // only fire cancels ctx
}
