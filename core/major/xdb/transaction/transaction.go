// Package transaction is what a context knows of the database transaction that it is in.
// Package xdb begins and ends it; code that only has to know of one calls In, Without or
// OnCommit, and does not link a database.
package transaction

import (
	"context"
	"sync"

	"github.com/plinthgo/plinth/core/defined/xctx"
)

// transaction is a transaction, or a savepoint in one.
type transaction struct {
	outer   *transaction // of which this one is a savepoint; nil: none
	outside any          // what xctx.DatabaseKey holds outside of all of them
	managed bool

	mu    sync.Mutex
	ended bool
	kept  bool // it has ended, and not by a rollback
	after []func()
}

// key finds the *transaction in a context.
type key struct{}

// Begin returns a context in which xctx.DatabaseKey holds db, the handle of a
// transaction, or of a savepoint where ctx is in a transaction already, and the function
// with which the caller ends it.
//
// After a commit, what OnCommit has stored runs in its order and in the caller's
// goroutine; a savepoint passes it on to what it is a savepoint of. A panic in the midst
// of it does not keep the rest from running, and is passed on then. After a rollback it
// never runs.
func Begin(ctx context.Context, db any) (_ context.Context, end func(committed bool)) {
	ctx, t := begin(ctx, db, true)
	return ctx, t.end
}

// Join is Begin for a transaction whose outcome the caller does not know: OnCommit then
// refuses.
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
	after := t.after
	t.after, t.ended, t.kept = nil, true, committed
	t.mu.Unlock()
	switch {
	case !committed:
	case t.outer == nil:
		runAll(after)
	default:
		for _, fn := range after {
			t.outer.onCommit(fn)
		}
	}
}

// runAll runs the functions, each of them also where one before it panics.
func runAll(all []func()) {
	if len(all) == 0 {
		return
	}
	defer runAll(all[1:])
	all[0]()
}

// onCommit keeps fn for the commit; it returns false where there will be none that
// anybody tells of.
func (t *transaction) onCommit(fn func()) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case !t.managed:
		return false
	case !t.ended:
		t.after = append(t.after, fn)
		return true
	default:
		return t.kept && t.outer != nil && t.outer.onCommit(fn)
	}
}

// In reports whether ctx is in a database transaction.
func In(ctx context.Context) bool { return of(ctx) != nil }

// Without returns a context in which xctx.DatabaseKey holds what it does outside of the
// transaction that ctx is in. It is for work that goes on when the transaction has ended.
func Without(ctx context.Context) context.Context {
	t := of(ctx)
	if t == nil {
		return ctx
	}
	return context.WithValue(context.WithValue(ctx, xctx.DatabaseKey, t.outside), key{},
		(*transaction)(nil))
}

// OnCommit runs fn once the transaction that ctx is in has committed, and never where it
// is rolled back. The context of fn is ctx outside of the transaction. Where ctx is in
// none, fn runs at once. The result is false, and fn never runs, where the transaction
// has ended already, and where nobody will tell whether it commits.
func OnCommit(ctx context.Context, fn func(ctx context.Context)) bool {
	outside := Without(ctx)
	t := of(ctx)
	if t == nil {
		fn(outside)
		return true
	}
	return t.onCommit(func() { fn(outside) })
}
