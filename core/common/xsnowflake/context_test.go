package xsnowflake_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	xError "github.com/plinthgo/plinth/core/common/xerror"
	xSnowflake "github.com/plinthgo/plinth/core/common/xsnowflake"
	xCtx "github.com/plinthgo/plinth/core/defined/xctx"
)

func TestIDsComeFromTheNodeOfTheContext(t *testing.T) {
	n := newNode(t)
	ctx := context.WithValue(t.Context(), xCtx.SnowflakeNodeKey, n)
	if got, err := xSnowflake.GetNode(ctx); got != n || err != nil {
		t.Errorf("GetNode = %v, %v", got, err)
	}
	if id := xSnowflake.MustGenerateSnowflakeID(ctx); id.Gene() != xSnowflake.GeneDefault || id.NodeID() != 5 {
		t.Errorf("id = %d of gene %v, node %d", id, id.Gene(), id.NodeID())
	}
	if id := xSnowflake.MustGenerateGeneSnowflakeID(ctx, xSnowflake.GeneUser); id.Gene() != xSnowflake.GeneUser {
		t.Errorf("gene = %v, want user", id.Gene())
	}
	if id, err := xSnowflake.GenerateSnowflakeID(ctx); err != nil || id.IsZero() {
		t.Errorf("GenerateSnowflakeID = %v, %v", id, err)
	}
}

func TestErrorsOfTheContextHelpersHaveCodes(t *testing.T) {
	closed, err := xSnowflake.NewNode(xSnowflake.WithNodeID(1))
	if err != nil {
		t.Fatal(err)
	}
	_ = closed.Close()
	with := func(n any) context.Context { return context.WithValue(t.Context(), xCtx.SnowflakeNodeKey, n) }
	for _, tc := range []struct {
		name string
		ctx  context.Context
		gene xSnowflake.Gene
		want *xError.ErrorCode
	}{
		{name: "nil context", want: xError.ConfigError},
		{name: "no node", ctx: t.Context(), want: xError.ConfigError},
		{name: "nil node", ctx: with((*xSnowflake.Node)(nil)), want: xError.ConfigError},
		{name: "something else", ctx: with(1), want: xError.ConfigError},
		{name: "closed", ctx: with(closed), want: xError.ServiceUnavailable},
		{name: "wrong gene", ctx: with(newNode(t)), gene: 64, want: xError.DeveloperError},
	} {
		t.Run(tc.name, func(t *testing.T) {
			id, err := xSnowflake.GenerateGeneSnowflakeID(tc.ctx, tc.gene)
			if id != 0 || err.GetErrorCode() != tc.want {
				t.Errorf("GenerateGeneSnowflakeID = %v, %v, want %v", id, err, tc.want)
			}
			defer func() {
				if err, ok := recover().(error); !ok || !errors.Is(err, tc.want) {
					t.Errorf("Must panicked with %v, want %v", err, tc.want)
				}
			}()
			xSnowflake.MustGenerateGeneSnowflakeID(tc.ctx, tc.gene)
		})
	}
}

func ExampleMustGenerateGeneSnowflakeID() {
	node, err := xSnowflake.NewNode(xSnowflake.WithNodeID(1))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = node.Close() }()
	ctx := context.WithValue(context.Background(), xCtx.SnowflakeNodeKey, node) // xReg does this

	fmt.Println(xSnowflake.MustGenerateGeneSnowflakeID(ctx, xSnowflake.GeneUser).Gene())
	// Output: user
}
