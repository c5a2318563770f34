package xhelper

import (
	"sync/atomic"

	"github.com/plinthgo/plinth/core/common/xerror"
)

// DefaultMaxInflightBodyBytes is the total of the bodies in flight if
// Config.MaxInflightBodyBytes is not set: 64 MiB.
const DefaultMaxInflightBodyBytes int64 = 64 << 20

// bodyBudget is the number of body bytes that handlers have read and may still hold in
// memory.
type bodyBudget struct {
	max  int64 // negative: no limit
	used atomic.Int64
}

// has reports whether n bytes are left; a negative n, the length of a body that was not
// declared, is 0.
func (b *bodyBudget) has(n int64) bool { return b.used.Load()+max(n, 0) <= b.max }

// countBody makes the body take from the budget, and reports whether it does. It counts
// what has arrived and not what was declared, so that a few clients which declare large
// bodies and send nothing cannot use up the budget. A request whose own limit is above
// the budget is not counted: its handler must not read the body into memory.
func (ex *exchange) countBody(limit int64) bool {
	budget := &ex.server.bodies
	if ex.body == nil || limit < 0 || limit > budget.max || ex.http.ContentLength > limit {
		return false
	}
	ex.body.budget = budget
	return true
}

func (b *body) take(n int64) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.budget == nil {
		return b.err
	}
	b.taken += n
	if b.budget.used.Add(n) > b.budget.max {
		b.err = overloaded()
		b.putBack()
	}
	return b.err
}

// putBack puts back what was taken, and ends the count.
func (b *body) putBack() {
	b.budget.used.Add(-b.taken)
	b.budget = nil
}

// release is putBack, unless the body does not count.
func (b *body) release() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.budget != nil {
		b.putBack()
	}
}

// overloaded is the error of a request for whose body no memory is left.
func overloaded() *xerror.Error { return xerror.New(xerror.ServiceOverload, "") }
