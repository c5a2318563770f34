package xctx_test

import (
	"context"
	"slices"
	"testing"

	"github.com/plinthgo/plinth/core/defined/xctx"
)

func TestOnCommitRunsAfterTheOutermostTransaction(t *testing.T) {
	var got []string
	note := func(s string) func(context.Context) { return func(context.Context) { got = append(got, s) } }
	ctx := context.WithValue(t.Context(), xctx.DatabaseKey, "pool")

	outer, transaction := xctx.BeginTransaction(ctx, "tx")
	xctx.OnCommit(outer, note("first"))
	kept, savepoint := xctx.BeginTransaction(outer, "savepoint")
	xctx.OnCommit(kept, note("second"))
	savepoint(true)
	undone, back := xctx.BeginTransaction(outer, "another")
	xctx.OnCommit(undone, note("never"))
	back(false)
	xctx.OnCommit(kept, note("third")) // of a savepoint that is released already
	if got != nil {
		t.Errorf("ran %v before the commit", got)
	}
	transaction(true)
	if want := []string{"first", "second", "third"}; !slices.Equal(got, want) {
		t.Errorf("ran %v, want %v", got, want)
	}
}

func TestOnCommitOutsideOfATransactionRunsAtOnce(t *testing.T) {
	ran := false
	if !xctx.OnCommit(t.Context(), func(context.Context) { ran = true }) || !ran {
		t.Errorf("ran = %t", ran)
	}
}

func TestOnCommitRefusesWhatNobodyTellsOf(t *testing.T) {
	joined := xctx.JoinTransaction(t.Context(), "tx")
	inner, transaction := xctx.BeginTransaction(joined, "savepoint")
	for _, ctx := range []context.Context{joined, inner} {
		if xctx.OnCommit(ctx, func(context.Context) { t.Error("it ran") }) {
			t.Error("OnCommit promised to run")
		}
	}
	transaction(true)
}

func TestWithoutTransactionFindsThePool(t *testing.T) {
	ctx := context.WithValue(t.Context(), xctx.DatabaseKey, "pool")
	tx, _ := xctx.BeginTransaction(ctx, "tx")
	savepoint, _ := xctx.BeginTransaction(tx, "savepoint")
	for _, tc := range []struct {
		name string
		ctx  context.Context
		in   bool
		want any
	}{
		{name: "outside", ctx: ctx, want: "pool"},
		{name: "inside", ctx: savepoint, in: true, want: "savepoint"},
		{name: "left", ctx: xctx.WithoutTransaction(savepoint), want: "pool"},
		{name: "never in", ctx: xctx.WithoutTransaction(ctx), want: "pool"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if in := xctx.InTransaction(tc.ctx); in != tc.in {
				t.Errorf("InTransaction = %t, want %t", in, tc.in)
			}
			if got := tc.ctx.Value(xctx.DatabaseKey); got != tc.want {
				t.Errorf("DatabaseKey holds %v, want %v", got, tc.want)
			}
		})
	}
}

func TestOnCommitRefusesWhatHasEnded(t *testing.T) {
	for name, committed := range map[string]bool{"a commit": true, "a rollback": false} {
		ctx, end := xctx.BeginTransaction(t.Context(), "tx")
		end(committed)
		if xctx.OnCommit(ctx, func(context.Context) { t.Error("it ran") }) {
			t.Errorf("OnCommit promised to run after %s", name)
		}
	}
}

func TestOnCommitIsOutsideOfTheTransaction(t *testing.T) {
	ctx, transaction := xctx.BeginTransaction(context.WithValue(t.Context(), xctx.DatabaseKey, "pool"), "tx")
	ran := false
	xctx.OnCommit(ctx, func(ctx context.Context) {
		ran = true
		if got := ctx.Value(xctx.DatabaseKey); got != "pool" || xctx.InTransaction(ctx) {
			t.Errorf("DatabaseKey holds %v, in a transaction: %t", got, xctx.InTransaction(ctx))
		}
	})
	transaction(true)
	if !ran {
		t.Error("it did not run")
	}
}

func TestPanicOnCommitKeepsNothingElseFromRunning(t *testing.T) {
	ctx, transaction := xctx.BeginTransaction(t.Context(), "tx")
	ran := false
	xctx.OnCommit(ctx, func(context.Context) { panic("first") })
	xctx.OnCommit(ctx, func(context.Context) { ran = true })
	defer func() {
		if p := recover(); p != "first" || !ran {
			t.Errorf("panic = %v, the second one ran: %t", p, ran)
		}
	}()
	transaction(true)
}
