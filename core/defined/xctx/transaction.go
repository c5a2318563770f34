package xctx

import (
	"context"
	"sync"
)

// Transaction is what a context knows of the database transaction that it is in. Package xdb begins it; whoever only has to
// know of one asks InTransaction, WithoutTransaction or OnCommit, and need not know the database.
type Transaction struct {
	outer   *Transaction // of which this one is a savepoint; nil: none
	outside any          // what DatabaseKey holds outside of all of them
	managed bool

	mu    sync.Mutex
	after []func()
}

// transactionKey finds the *Transaction in a context.
type transactionKey struct{}

// BeginTransaction returns a context in which DatabaseKey holds db, the handle of a transaction, or of a savepoint where ctx
// is in a transaction already. The caller tells of the outcome with Committed; where it is rolled back there is nothing to tell.
func BeginTransaction(ctx context.Context, db any) (context.Context, *Transaction) {
	return begin(ctx, db, true)
}

// JoinTransaction is BeginTransaction for a transaction whose outcome the caller does not know: OnCommit then refuses.
func JoinTransaction(ctx context.Context, db any) context.Context {
	ctx, _ = begin(ctx, db, false)
	return ctx
}

func begin(ctx context.Context, db any, managed bool) (context.Context, *Transaction) {
	t := &Transaction{outer: transactionOf(ctx), managed: managed}
	if t.outer != nil {
		t.outside, t.managed = t.outer.outside, t.outer.managed && managed
	} else {
		t.outside = ctx.Value(DatabaseKey)
	}
	return context.WithValue(context.WithValue(ctx, DatabaseKey, db), transactionKey{}, t), t
}

func transactionOf(ctx context.Context) *Transaction {
	t, _ := ctx.Value(transactionKey{}).(*Transaction)
	return t
}

// Committed runs what OnCommit has left, in that order, in the caller's goroutine. A savepoint passes it on to what it is
// a savepoint of.
func (t *Transaction) Committed() {
	t.mu.Lock()
	after := t.after
	t.after = nil
	t.mu.Unlock()
	if t.outer != nil {
		t.outer.mu.Lock()
		defer t.outer.mu.Unlock()
		t.outer.after = append(t.outer.after, after...)
		return
	}
	for _, fn := range after {
		fn()
	}
}

// InTransaction reports whether ctx is in a database transaction.
func InTransaction(ctx context.Context) bool { return transactionOf(ctx) != nil }

// WithoutTransaction returns a context in which DatabaseKey holds what it does outside of the transaction that ctx is in. It is
// for work that goes on when the transaction has ended.
func WithoutTransaction(ctx context.Context) context.Context {
	t := transactionOf(ctx)
	if t == nil {
		return ctx
	}
	return context.WithValue(context.WithValue(ctx, DatabaseKey, t.outside), transactionKey{}, (*Transaction)(nil))
}

// OnCommit runs fn once the transaction that ctx is in has committed, and never where it is rolled back. Outside of one it runs
// fn at once. The result is false, and fn never runs, where nobody will tell whether the transaction commits.
func OnCommit(ctx context.Context, fn func()) bool {
	t := transactionOf(ctx)
	if t == nil {
		fn()
		return true
	}
	if !t.managed {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.after = append(t.after, fn)
	return true
}
