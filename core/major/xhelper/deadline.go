package xhelper

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// DefaultRequestTimeout is the time that a request may take if Config.RequestTimeout is
// not set.
const DefaultRequestTimeout = 30 * time.Second

// origin is the context that the server gave to the request, with the deadline of the
// request, and leads back to the exchange.
//
// The timer starts when a caller first needs the Done channel, so that a request which
// does not ask for it pays nothing. A deadline of context.WithDeadline could not be
// lifted when the request becomes a stream, of which contexts may have been derived
// before.
type origin struct {
	context.Context // of the server
	exchange        *exchange
	timeout         time.Duration // since the start of the request; 0 or less: no deadline

	mu     sync.Mutex // held by arm and lift
	lifted atomic.Bool
	armed  atomic.Pointer[alarm] // does not change any more once it is set
}

type exchangeKey struct{}

// alarm is what callers of an armed deadline wait for: ctx, which end ends. Most requests
// need none. The alarm is the parent of ctx, which gets its error from that. It calls
// what AfterFunc was given, so nothing waits for its channel.
type alarm struct {
	context.Context // of the server

	ctx    context.Context
	cancel context.CancelFunc
	notify func()
	timer  *time.Timer
}

// expires returns the deadline of the request, unless it has none, it was lifted, or the
// server's is earlier.
func (o *origin) expires() (at time.Time, ok bool) {
	if o.timeout <= 0 || o.lifted.Load() {
		return time.Time{}, false
	}
	at = o.exchange.request.Start().Add(o.timeout)
	server, earlier := o.Context.Deadline()
	return at, !earlier || at.Before(server)
}

// Deadline implements context.Context.
func (o *origin) Deadline() (time.Time, bool) {
	if at, ok := o.expires(); ok {
		return at, true
	}
	return o.Context.Deadline()
}

// Done implements context.Context.
func (o *origin) Done() <-chan struct{} {
	if a := o.arm(); a != nil {
		return a.ctx.Done()
	}
	return o.Context.Done()
}

// Err implements context.Context.
func (o *origin) Err() error {
	a := o.armed.Load()
	if at, ok := o.expires(); a == nil && ok && time.Until(at) <= 0 {
		a = o.arm()
	}
	if a == nil {
		return o.Context.Err()
	}
	if o.Context.Err() != nil {
		a.end() // which context.AfterFunc does a moment later
	}
	return a.ctx.Err()
}

// Value implements context.Context. Package context finds by it that an alarm cancels
// contexts which are derived of this one.
func (o *origin) Value(key any) any {
	if key == (exchangeKey{}) {
		return o.exchange
	}
	if a := o.armed.Load(); a != nil {
		return a.ctx.Value(key)
	}
	return o.Context.Value(key)
}

// arm returns the alarm, or nil if the deadline was lifted before or there is none.
func (o *origin) arm() *alarm {
	if a := o.armed.Load(); a != nil {
		return a
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	at, ok := o.expires()
	if a := o.armed.Load(); a != nil || !ok {
		return a
	}
	a := &alarm{Context: o.Context}
	a.ctx, a.cancel = context.WithCancel(a)
	if left := time.Until(at); left <= 0 || o.Context.Err() != nil {
		a.end()
	} else {
		context.AfterFunc(o.Context, a.end)
		a.timer = time.AfterFunc(left, a.end)
	}
	o.armed.Store(a)
	return a
}

// lift removes the deadline.
func (o *origin) lift() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.lifted.Store(true)
	if a := o.armed.Load(); a != nil && a.timer != nil {
		a.timer.Stop()
	}
}

// end ends what callers wait for, unless it has ended.
func (a *alarm) end() {
	a.notify()
	a.cancel()
}

// never is a channel that is not closed.
var never = make(chan struct{})

// Done implements context.Context.
func (a *alarm) Done() <-chan struct{} { return never }

// Err implements context.Context. Only what notify calls asks for it, after the end of
// the server's context or at the deadline.
func (a *alarm) Err() error { return cmp.Or(a.Context.Err(), context.DeadlineExceeded) }

// AfterFunc is called by context.WithCancel, once, which otherwise needs a goroutine.
func (a *alarm) AfterFunc(f func()) (stop func() bool) {
	a.notify = f
	return func() bool { return false } // the alarm is not canceled in another way
}
