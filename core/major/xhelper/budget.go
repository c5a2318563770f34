package xhelper

import (
	"sync/atomic"

	"github.com/plinthgo/plinth/core/common/xerror"
)

// DefaultMaxInflightBodyBytes is the default of Config.MaxInflightBodyBytes: 64 MiB.
const DefaultMaxInflightBodyBytes int64 = 64 << 20

// bodyBudget limits the body bytes that handlers have read and may still use.
type bodyBudget struct {
	max  int64 // negative for no limit
	used atomic.Int64
}

// hasRoom reports whether n bytes are available. A negative n means an unknown length and
// counts as 0.
func (b *bodyBudget) hasRoom(n int64) bool { return b.used.Load()+max(n, 0) <= b.max }

// countBody makes the body count against the budget, and reports whether it does. Bytes
// count when they are read. The declared length does not count, so that clients that
// declare large bodies and send nothing cannot exhaust the budget. A request with a limit
// above the budget is not counted: its handler must not read the body into memory.
func (ex *exchange) countBody(limit int64) bool {
	budget := &ex.server.bodies
	if ex.body == nil || limit < 0 || limit > budget.max || ex.http.ContentLength > limit {
		return false
	}
	ex.body.budget = budget
	return true
}

func (b *body) reserve(n int64) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.budget == nil {
		return b.err
	}
	b.reserved += n
	if b.budget.used.Add(n) > b.budget.max {
		b.err = overloaded()
		b.releaseLocked()
	}
	return b.err
}

// releaseLocked returns the reserved bytes and stops counting.
func (b *body) releaseLocked() {
	b.budget.used.Add(-b.reserved)
	b.budget = nil
}

func (b *body) release() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.budget != nil {
		b.releaseLocked()
	}
}

func overloaded() *xerror.Error { return xerror.New(xerror.ServiceOverload, "") }
