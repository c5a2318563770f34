package transaction_test

import (
	"context"
	"slices"
	"testing"

	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/major/xdb/transaction"
)

func TestOnCommit(t *testing.T) {
	t.Run("runs after the outermost transaction", func(t *testing.T) {
		var got []string
		record := func(s string) func(context.Context) {
			return func(context.Context) { got = append(got, s) }
		}
		ctx := context.WithValue(t.Context(), xctx.DatabaseKey, "pool")

		outer, end := transaction.Begin(ctx, "tx")
		transaction.OnCommit(outer, record("first"))
		released, endReleased := transaction.Begin(outer, "savepoint")
		transaction.OnCommit(released, record("second"))
		endReleased(true)
		undone, endUndone := transaction.Begin(outer, "another")
		transaction.OnCommit(undone, record("never"))
		endUndone(false)
		transaction.OnCommit(released, record("third")) // the savepoint is released already
		if got != nil {
			t.Errorf("ran %v before the commit", got)
		}
		end(true)
		if want := []string{"first", "second", "third"}; !slices.Equal(got, want) {
			t.Errorf("ran %v, want %v", got, want)
		}
	})

	t.Run("runs immediately outside a transaction", func(t *testing.T) {
		ran := false
		if !transaction.OnCommit(t.Context(), func(context.Context) { ran = true }) || !ran {
			t.Errorf("the function ran: %t, want true", ran)
		}
	})

	t.Run("returns false in a joined transaction", func(t *testing.T) {
		joined := transaction.Join(t.Context(), "tx")
		inner, end := transaction.Begin(joined, "savepoint")
		for _, ctx := range []context.Context{joined, inner} {
			if transaction.OnCommit(ctx, func(context.Context) { t.Error("the function ran") }) {
				t.Error("OnCommit = true, want false")
			}
		}
		end(true)
	})

	t.Run("returns false after the transaction ended", func(t *testing.T) {
		for name, committed := range map[string]bool{"a commit": true, "a rollback": false} {
			ctx, end := transaction.Begin(t.Context(), "tx")
			end(committed)
			if transaction.OnCommit(ctx, func(context.Context) { t.Error("the function ran") }) {
				t.Errorf("OnCommit = true after %s, want false", name)
			}
		}
	})

	t.Run("passes a context outside the transaction", func(t *testing.T) {
		ctx, end := transaction.Begin(context.WithValue(t.Context(), xctx.DatabaseKey, "pool"),
			"tx")
		ran := false
		transaction.OnCommit(ctx, func(ctx context.Context) {
			ran = true
			if got := ctx.Value(xctx.DatabaseKey); got != "pool" || transaction.In(ctx) {
				t.Errorf("DatabaseKey = %v, in a transaction: %t", got, transaction.In(ctx))
			}
		})
		end(true)
		if !ran {
			t.Error("the function did not run")
		}
	})

	t.Run("runs the other functions after a panic", func(t *testing.T) {
		ctx, end := transaction.Begin(t.Context(), "tx")
		ran := false
		transaction.OnCommit(ctx, func(context.Context) { panic("first") })
		transaction.OnCommit(ctx, func(context.Context) { ran = true })
		defer func() {
			if p := recover(); p != "first" || !ran {
				t.Errorf("panic = %v, the second function ran: %t", p, ran)
			}
		}()
		end(true)
	})
}

func TestWithout(t *testing.T) {
	ctx := context.WithValue(t.Context(), xctx.DatabaseKey, "pool")
	tx, _ := transaction.Begin(ctx, "tx")
	savepoint, _ := transaction.Begin(tx, "savepoint")
	for _, tc := range []struct {
		name string
		ctx  context.Context
		in   bool
		want any
	}{
		{name: "outside", ctx: ctx, want: "pool"},
		{name: "inside", ctx: savepoint, in: true, want: "savepoint"},
		{name: "without the transaction", ctx: transaction.Without(savepoint), want: "pool"},
		{name: "without, outside", ctx: transaction.Without(ctx), want: "pool"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if in := transaction.In(tc.ctx); in != tc.in {
				t.Errorf("In = %t, want %t", in, tc.in)
			}
			if got := tc.ctx.Value(xctx.DatabaseKey); got != tc.want {
				t.Errorf("DatabaseKey = %v, want %v", got, tc.want)
			}
		})
	}
}
