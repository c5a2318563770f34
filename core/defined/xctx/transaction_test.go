package xctx_test

import (
	"context"
	"slices"
	"testing"

	xCtx "github.com/plinthgo/plinth/core/defined/xctx"
)

func TestOnCommitRunsAfterTheOutermostTransaction(t *testing.T) {
	var got []string
	note := func(s string) func() { return func() { got = append(got, s) } }
	ctx := context.WithValue(t.Context(), xCtx.DatabaseKey, "pool")

	outer, transaction := xCtx.BeginTransaction(ctx, "tx")
	xCtx.OnCommit(outer, note("first"))
	kept, savepoint := xCtx.BeginTransaction(outer, "savepoint")
	xCtx.OnCommit(kept, note("second"))
	savepoint.Committed()
	undone, _ := xCtx.BeginTransaction(outer, "another")
	xCtx.OnCommit(undone, note("never"))
	xCtx.OnCommit(outer, note("third"))
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
	if !xCtx.OnCommit(t.Context(), func() { ran = true }) || !ran {
		t.Errorf("ran = %t", ran)
	}
}

func TestOnCommitRefusesWhatNobodyTellsOf(t *testing.T) {
	joined := xCtx.JoinTransaction(t.Context(), "tx")
	inner, transaction := xCtx.BeginTransaction(joined, "savepoint")
	for _, ctx := range []context.Context{joined, inner} {
		if xCtx.OnCommit(ctx, func() { t.Error("it ran") }) {
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
