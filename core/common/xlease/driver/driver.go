// Package driver defines what keeps the records of leases: a cache server, a database,
// this process. Applications use package xlease; only backends import this package.
//
// A backend keeps records and the time. Renewal, the notice of a loss, waiting and the
// margins for clocks and for servers that forget are written once, in xlease. Package
// leasetest is the definition of the behaviour, and every backend runs it.
package driver

import (
	"context"
	"time"
)

// Backend keeps records of who holds which name. It is safe for concurrent use. Every
// method is atomic, ends with ctx's error when ctx ends, and compares times of the
// backend's own clock only.
//
// A name has numbered slots, each with one holder at most; a lock is a name with the one
// slot 0. A record ends when its TTL is over, or when it is released. What it says of its
// past outlives its end: for at least a minute where a name has one slot, for good where
// it has more.
type Backend interface {
	// Acquire takes a free slot. Grant.OK is false where there is none, which is no
	// error.
	Acquire(ctx context.Context, r Request) (Grant, error)
	// Renew lets the record of h last for h.TTL from now, also one that has ended and was
	// not taken since, and one that the backend has lost without another holder. It
	// stores h.Mark where it is larger than what the slot has: a renewal may arrive
	// behind one that was sent after it. held is false where someone else has taken the
	// slot since.
	Renew(ctx context.Context, h Holding) (held bool, err error)
	// Release ends the record of h and stores h.Mark, also a smaller one. held is false
	// where the record was not h's any more. It looks at h.Holder alone: who got no
	// answer to Acquire knows no token.
	Release(ctx context.Context, h Holding) (held bool, err error)
	// Capabilities says what the records are worth. It does not change.
	Capabilities() Capabilities
}

// Preparer is a Backend that must set something up before its first record, such as a
// table. It does so by itself at the first use; Prepare does it earlier.
type Preparer interface {
	Prepare(ctx context.Context) error
}

// Capabilities are what differs between backends and matters to who relies on them.
type Capabilities struct {
	// Scope says between whom the backend decides.
	Scope Scope
	// Durable says that the backend never forgets a record that it has confirmed.
	Durable bool
	// Name is the word for the backend in logs, such as "redis".
	Name string
}

// Scope says between whom a backend decides.
type Scope uint8

// The scopes, from the smallest.
const (
	Process Scope = iota // the goroutines of one process
	Host                 // the processes of one host
	Cluster              // all who reach the server
)

// String returns the scope's word.
func (s Scope) String() string {
	return [...]string{"process", "host", "cluster"}[min(s, Cluster)]
}

// Request asks for a slot.
type Request struct {
	// Name is 1 to 200 bytes of printable ASCII without spaces.
	Name string
	// First and Count are the slots that will do. They are looked at from Begin on, the
	// first following the last. One whose mark is at most Past is preferred; else it is
	// the one with the smallest mark.
	First, Count, Begin int
	// Holder is a random name of this attempt, at most 40 bytes of [A-Za-z0-9-].
	Holder string
	// TTL is how long the record lasts, in whole milliseconds.
	TTL time.Duration
	// Mark is stored where it is larger than what the slot has.
	Mark, Past int64
}

// Grant answers a Request.
type Grant struct {
	OK bool
	// Slot is the one that was taken.
	Slot int
	// Token is larger than that of every earlier record of the slot: the backend's time
	// in microseconds, or one more than the last token, whichever is larger.
	Token int64
	// Mark is what the holder before has left in the slot; 0 where there was none.
	Mark int64
	// Age is how long the backend has had records of the name without a gap. It is 0 for
	// a name that it does not know, and for one that it has forgotten.
	Age time.Duration
	// Wait is, where OK is false, the time until the first of the records ends unless it
	// is renewed.
	Wait time.Duration
}

// Holding is a record that was taken.
type Holding struct {
	Name   string
	Slot   int
	Holder string
	Token  int64
	TTL    time.Duration
	// Mark is what the next holder of the slot gets to see.
	Mark int64
}

// Ended is how long a backend keeps, at least, what it knows of a name with one slot when
// its record has ended.
const Ended = time.Minute
