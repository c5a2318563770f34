// Package transaction stores the database transaction of a context. Package xdb begins,
// commits and rolls back transactions. Code that only calls In, Without or OnCommit does
// not link a database.
package transaction

import (
	"context"
	"sync"

	"github.com/plinthgo/plinth/core/defined/xctx"
)

// transaction is a transaction or a savepoint.
type transaction struct {
	outer   *transaction // the enclosing transaction of a savepoint, or nil
	outside any          // the value of xctx.DatabaseKey outside the outermost transaction
	managed bool         // end reports the outcome

	mu        sync.Mutex
	ended     bool
	committed bool // the transaction has ended without a rollback
	callbacks []func()
}

// key is the context key of the *transaction.
type key struct{}

// Begin returns a context in which xctx.DatabaseKey is db, the handle of a transaction,
// or of a savepoint if ctx is in a transaction. The caller reports the outcome with end.
//
// After a commit, end runs the functions of OnCommit in order in the goroutine of the
// caller; a savepoint passes them to its enclosing transaction. If one panics, the others
// still run and the panic continues. After a rollback they never run.
func Begin(ctx context.Context, db any) (_ context.Context, end func(committed bool)) {
	ctx, t := begin(ctx, db, true)
	return ctx, t.end
}

// Join is Begin for a transaction whose outcome is not reported: OnCommit then returns
// false.
func Join(ctx context.Context, db any) context.Context {
	ctx, _ = begin(ctx, db, false)
	return ctx
}

func begin(ctx context.Context, db any, managed bool) (context.Context, *transaction) {
	t := &transaction{outer: of(ctx), outside: ctx.Value(xctx.DatabaseKey), managed: managed}
	if t.outer != nil {
		t.outside, t.managed = t.outer.outside, t.outer.managed && managed
	}
	return context.WithValue(context.WithValue(ctx, xctx.DatabaseKey, db), key{}, t), t
}

func of(ctx context.Context) *transaction {
	t, _ := ctx.Value(key{}).(*transaction)
	return t
}

func (t *transaction) end(committed bool) {
	t.mu.Lock()
	callbacks := t.callbacks
	t.callbacks, t.ended, t.committed = nil, true, committed
	t.mu.Unlock()
	switch {
	case !committed:
	case t.outer == nil:
		runAll(callbacks)
	default:
		for _, fn := range callbacks {
			t.outer.onCommit(fn)
		}
	}
}

// runAll runs all functions, even if one of them panics.
func runAll(all []func()) {
	if len(all) == 0 {
		return
	}
	defer runAll(all[1:])
	all[0]()
}

// onCommit stores fn for the commit. It returns false if fn will never run.
func (t *transaction) onCommit(fn func()) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case !t.managed:
		return false
	case !t.ended:
		t.callbacks = append(t.callbacks, fn)
		return true
	default:
		return t.committed && t.outer != nil && t.outer.onCommit(fn)
	}
}

// In reports whether ctx is in a database transaction.
func In(ctx context.Context) bool { return of(ctx) != nil }

// Without returns a context with the value that xctx.DatabaseKey has outside the
// transaction of ctx. Use it for work that continues after the transaction.
func Without(ctx context.Context) context.Context {
	t := of(ctx)
	if t == nil {
		return ctx
	}
	return context.WithValue(context.WithValue(ctx, xctx.DatabaseKey, t.outside), key{},
		(*transaction)(nil))
}

// OnCommit runs fn after the transaction of ctx has committed, and never if it is rolled
// back. The context of fn is ctx outside the transaction. If ctx is not in a transaction,
// fn runs immediately. OnCommit returns false, and fn never runs, if the transaction has
// ended or if its outcome is not reported (see Join).
func OnCommit(ctx context.Context, fn func(ctx context.Context)) bool {
	outside := Without(ctx)
	t := of(ctx)
	if t == nil {
		fn(outside)
		return true
	}
	return t.onCommit(func() { fn(outside) })
}
