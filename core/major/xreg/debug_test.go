package xreg_test

import (
	"context"
	"testing"

	"github.com/plinthgo/plinth/core/common/xctxutil"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xreg/xregnode"
)

func TestReg_DebugKey(t *testing.T) {
	t.Run("options override the environment", func(t *testing.T) {
		for _, tc := range []struct {
			name string
			env  string
			opt  xoption.Option
			want bool
		}{
			{name: "neither", opt: xoption.WithOptions(), want: false},
			{name: "environment", env: "true", opt: xoption.WithOptions(), want: true},
			{name: "option", opt: xoption.WithDebug(true), want: true},
			{
				name: "option against the environment", env: "true",
				opt: xoption.WithDebug(false), want: false,
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				t.Setenv("PLINTH_DEBUG", tc.env)
				seen := !tc.want
				reg, _ := start(t,
					[]xregnode.Node{{Key: "n", Node: func(ctx context.Context) (any, error) {
						seen = xctxutil.IsDebug(ctx)
						return 1, nil
					}}}, tc.opt)
				if got, err := xctxutil.Get[bool](reg.Init.Ctx, xctx.DebugKey); err != nil ||
					got != tc.want || seen != tc.want {
					t.Errorf("DebugKey = %t, %v, in a node %t; want %t", got, err, seen, tc.want)
				}
			})
		}
	})

	t.Run("options of Apply change the debug mode", func(t *testing.T) {
		reg, _ := start(t, nil)
		if err := reg.Apply(xoption.WithDebug(true)); err != nil ||
			!xctxutil.IsDebug(reg.Init.Ctx) {
			t.Errorf("Apply = %v, debug = %t; want true", err, xctxutil.IsDebug(reg.Init.Ctx))
		}
		seen := true
		err := reg.Apply(xoption.WithDebug(false), xoption.WithNodes(xregnode.Node{
			Key: "n",
			Node: func(ctx context.Context) (any, error) {
				seen = xctxutil.IsDebug(ctx)
				return 1, nil
			},
		}))
		if err != nil || seen || xctxutil.IsDebug(reg.Init.Ctx) {
			t.Errorf("Apply = %v, debug in a node %t, then %t; want false",
				err, seen, xctxutil.IsDebug(reg.Init.Ctx))
		}
	})

	t.Run("the key is reserved", func(t *testing.T) {
		if err := new(xregnode.Nodes).Check([]xregnode.Node{{
			Key:  xctx.DebugKey,
			Node: func(context.Context) (any, error) { return true, nil },
		}}); err == nil {
			t.Error("Check = nil, want an error for the reserved key")
		}
	})
}
