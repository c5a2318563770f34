// Package driver defines the backend interface of leases. Backends store leases in a
// database, a cache server, a directory or this process. Applications use package xlease
// instead of this package.
//
// A backend stores records and provides the time. Package xlease implements renewal, loss
// detection, waiting, and margins for clocks and for servers that lose records. The
// conformance suite leasetest specifies the behavior.
package driver

import (
	"context"
	"time"
)

// Backend stores the holders of names. It is safe for concurrent use. Every method is
// atomic, returns the error of ctx when ctx is done, and compares only times of the
// backend's clock.
//
// A name has numbered slots with at most one holder each. A lock is a name with slot 0
// only. A record expires after its TTL, or when it is released. The backend retains the
// token and the mark of an expired record. It retains them for at least a minute if the
// name has one slot, and permanently if it has several.
type Backend interface {
	// Acquire acquires a free slot. If every slot is held, Grant.OK is false and the
	// error is nil.
	Acquire(ctx context.Context, r Request) (Grant, error)
	// Renew extends the record of h by h.TTL from now. It also restores a record that
	// expired or that the backend lost, unless another holder acquired the slot; held is
	// false in that case. It stores h.Mark if that is larger than the stored mark,
	// because renewals may arrive out of order.
	Renew(ctx context.Context, h Holding) (held bool, err error)
	// Release deletes the record of h and stores h.Mark, even if the stored mark is
	// larger. held is false if another holder has the slot. Release compares h.Holder
	// only, because the caller may not have received the token.
	Release(ctx context.Context, h Holding) (held bool, err error)
	// Capabilities returns the properties of the backend. They do not change.
	Capabilities() Capabilities
}

// Preparer is a Backend that creates a resource before its first record, such as a table.
// It creates the resource at the first use, or earlier in Prepare.
type Preparer interface {
	Prepare(ctx context.Context) error
}

// Capabilities are the properties of a backend that matter to callers.
type Capabilities struct {
	// Scope is the set of competitors for a lease.
	Scope Scope
	// Durable reports whether the backend retains every confirmed record.
	Durable bool
	// Name is the name of the backend in logs, such as "redis".
	Name string
}

// Scope is the set of competitors for a lease.
type Scope uint8

// Scopes, from the smallest.
const (
	Process Scope = iota // the goroutines of one process
	Host                 // the processes of one host
	Cluster              // all clients of the server
)

// String returns the name of the scope.
func (s Scope) String() string {
	return [...]string{"process", "host", "cluster"}[min(s, Cluster)]
}

// Request is a request for a slot.
type Request struct {
	// Name is 1 to 200 bytes of printable ASCII without spaces.
	Name string
	// First and Count are the acceptable slots. The search starts at Begin and wraps
	// around. It prefers a free slot whose mark is at most Past, else the free slot with
	// the smallest mark.
	First, Count, Begin int
	// Holder is a random ID of this attempt, at most 40 bytes of [A-Za-z0-9-].
	Holder string
	// TTL is the lifetime of the record, in whole milliseconds.
	TTL time.Duration
	// Mark is stored if it is larger than the stored mark.
	Mark, Past int64
}

// Grant is the response to a Request.
type Grant struct {
	OK bool
	// Slot is the acquired slot.
	Slot int
	// Token is larger than the token of every earlier record of the slot. It is the time
	// of the backend in microseconds, or the last token plus one if that is larger.
	Token int64
	// Mark is the mark of the former holder of the slot, or 0.
	Mark int64
	// Age is the time for which the backend has stored records of the name without
	// interruption. It is 0 for a name without records.
	Age time.Duration
	// Wait is the time until the first record expires unless it is renewed. It is set if
	// OK is false.
	Wait time.Duration
}

// Holding is an acquired record.
type Holding struct {
	Name   string
	Slot   int
	Holder string
	Token  int64
	TTL    time.Duration
	// Mark is the mark for the next holder of the slot.
	Mark int64
}

// Retention is the minimum time for which a backend retains the state of a name with one
// slot after its record has expired.
const Retention = time.Minute
