package xctx_test

import (
	"context"
	"slices"
	"testing"

	xCtx "github.com/plinthgo/plinth/core/defined/xctx"
)

func TestOnCommitRunsAfterTheOutermostTransaction(t *testing.T) {
	var got []string
	note := func(s string) func(context.Context) { return func(context.Context) { got = append(got, s) } }
	ctx := context.WithValue(t.Context(), xCtx.DatabaseKey, "pool")

	outer, transaction := xCtx.BeginTransaction(ctx, "tx")
	xCtx.OnCommit(outer, note("first"))
	kept, savepoint := xCtx.BeginTransaction(outer, "savepoint")
	xCtx.OnCommit(kept, note("second"))
	savepoint.Committed()
	undone, back := xCtx.BeginTransaction(outer, "another")
	xCtx.OnCommit(undone, note("never"))
	back.RolledBack()
	xCtx.OnCommit(kept, note("third")) // of a savepoint that is released already
	if got != nil {
		t.Errorf("ran %v before the commit", got)
	}
	transaction.Committed()
	if want := []string{"first", "second", "third"}; !slices.Equal(got, want) {
		t.Errorf("ran %v, want %v", got, want)
	}
}

func TestOnCommitOutsideOfATransactionRunsAtOnce(t *testing.T) {
	ran := false
	if !xCtx.OnCommit(t.Context(), func(context.Context) { ran = true }) || !ran {
		t.Errorf("ran = %t", ran)
	}
}

func TestOnCommitRefusesWhatNobodyTellsOf(t *testing.T) {
	joined := xCtx.JoinTransaction(t.Context(), "tx")
	inner, transaction := xCtx.BeginTransaction(joined, "savepoint")
	for _, ctx := range []context.Context{joined, inner} {
		if xCtx.OnCommit(ctx, func(context.Context) { t.Error("it ran") }) {
			t.Error("OnCommit promised to run")
		}
	}
	transaction.Committed()
}

func TestWithoutTransactionFindsThePool(t *testing.T) {
	ctx := context.WithValue(t.Context(), xCtx.DatabaseKey, "pool")
	tx, _ := xCtx.BeginTransaction(ctx, "tx")
	savepoint, _ := xCtx.BeginTransaction(tx, "savepoint")
	for _, tc := range []struct {
		name string
		ctx  context.Context
		in   bool
		want any
	}{
		{name: "outside", ctx: ctx, want: "pool"},
		{name: "inside", ctx: savepoint, in: true, want: "savepoint"},
		{name: "left", ctx: xCtx.WithoutTransaction(savepoint), want: "pool"},
		{name: "never in", ctx: xCtx.WithoutTransaction(ctx), want: "pool"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if in := xCtx.InTransaction(tc.ctx); in != tc.in {
				t.Errorf("InTransaction = %t, want %t", in, tc.in)
			}
			if got := tc.ctx.Value(xCtx.DatabaseKey); got != tc.want {
				t.Errorf("DatabaseKey holds %v, want %v", got, tc.want)
			}
		})
	}
}

func TestOnCommitRefusesWhatHasEnded(t *testing.T) {
	for name, end := range map[string]func(*xCtx.Transaction){
		"a commit": (*xCtx.Transaction).Committed, "a rollback": (*xCtx.Transaction).RolledBack,
	} {
		ctx, transaction := xCtx.BeginTransaction(t.Context(), "tx")
		end(transaction)
		if xCtx.OnCommit(ctx, func(context.Context) { t.Error("it ran") }) {
			t.Errorf("OnCommit promised to run after %s", name)
		}
	}
}

func TestOnCommitIsOutsideOfTheTransaction(t *testing.T) {
	ctx, transaction := xCtx.BeginTransaction(context.WithValue(t.Context(), xCtx.DatabaseKey, "pool"), "tx")
	ran := false
	xCtx.OnCommit(ctx, func(ctx context.Context) {
		ran = true
		if got := ctx.Value(xCtx.DatabaseKey); got != "pool" || xCtx.InTransaction(ctx) {
			t.Errorf("DatabaseKey holds %v, in a transaction: %t", got, xCtx.InTransaction(ctx))
		}
	})
	transaction.Committed()
	if !ran {
		t.Error("it did not run")
	}
}

func TestPanicOnCommitKeepsNothingElseFromRunning(t *testing.T) {
	ctx, transaction := xCtx.BeginTransaction(t.Context(), "tx")
	ran := false
	xCtx.OnCommit(ctx, func(context.Context) { panic("first") })
	xCtx.OnCommit(ctx, func(context.Context) { ran = true })
	defer func() {
		if p := recover(); p != "first" || !ran {
			t.Errorf("panic = %v, the second one ran: %t", p, ran)
		}
	}()
	transaction.Committed()
}
