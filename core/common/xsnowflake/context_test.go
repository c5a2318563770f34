package xsnowflake_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/defined/xctx"
)

func TestGenerateSnowflakeID(t *testing.T) {
	t.Run("uses the node of the context", func(t *testing.T) {
		n := newNode(t)
		ctx := context.WithValue(t.Context(), xctx.SnowflakeNodeKey, n)
		if got, err := xsnowflake.GetNode(ctx); got != n || err != nil {
			t.Errorf("GetNode = %v, %v", got, err)
		}
		if id := xsnowflake.MustGenerateSnowflakeID(ctx); id.Gene() != xsnowflake.GeneDefault ||
			id.NodeID() != 5 {
			t.Errorf("id = %d of gene %v, node %d", id, id.Gene(), id.NodeID())
		}
		id := xsnowflake.MustGenerateGeneSnowflakeID(ctx, xsnowflake.GeneUser)
		if id.Gene() != xsnowflake.GeneUser {
			t.Errorf("gene = %v, want user", id.Gene())
		}
		if id, err := xsnowflake.GenerateSnowflakeID(ctx); err != nil || id.IsZero() {
			t.Errorf("GenerateSnowflakeID = %v, %v", id, err)
		}
	})

	t.Run("returns error codes", func(t *testing.T) {
		closed, err := xsnowflake.NewNode(xsnowflake.WithNodeID(1))
		if err != nil {
			t.Fatal(err)
		}
		_ = closed.Close()
		with := func(n any) context.Context {
			return context.WithValue(t.Context(), xctx.SnowflakeNodeKey, n)
		}
		for _, tc := range []struct {
			name string
			ctx  context.Context
			gene xsnowflake.Gene
			want *xerror.ErrorCode
		}{
			{name: "nil context", want: xerror.ConfigError},
			{name: "no node", ctx: t.Context(), want: xerror.ConfigError},
			{name: "nil node", ctx: with((*xsnowflake.Node)(nil)), want: xerror.ConfigError},
			{name: "value of another type", ctx: with(1), want: xerror.ConfigError},
			{name: "closed", ctx: with(closed), want: xerror.ServiceUnavailable},
			{name: "invalid gene", ctx: with(newNode(t)), gene: 64, want: xerror.DeveloperError},
		} {
			t.Run(tc.name, func(t *testing.T) {
				id, err := xsnowflake.GenerateGeneSnowflakeID(tc.ctx, tc.gene)
				if id != 0 || err.GetErrorCode() != tc.want {
					t.Errorf("GenerateGeneSnowflakeID = %v, %v, want %v", id, err, tc.want)
				}
				defer func() {
					if err, ok := recover().(error); !ok || !errors.Is(err, tc.want) {
						t.Errorf("MustGenerateGeneSnowflakeID panicked with %v, want %v",
							err, tc.want)
					}
				}()
				xsnowflake.MustGenerateGeneSnowflakeID(tc.ctx, tc.gene)
			})
		}
	})
}

func ExampleMustGenerateGeneSnowflakeID() {
	node, err := xsnowflake.NewNode(xsnowflake.WithNodeID(1))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = node.Close() }()
	ctx := context.WithValue(context.Background(), xctx.SnowflakeNodeKey, node) // xreg does this

	fmt.Println(xsnowflake.MustGenerateGeneSnowflakeID(ctx, xsnowflake.GeneUser).Gene())
	// Output: 2
}
