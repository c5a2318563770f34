package xreg_test

import (
	"context"
	"errors"
	"testing"

	xCtxUtil "github.com/plinthgo/plinth/core/common/xctxutil"
	xCtx "github.com/plinthgo/plinth/core/defined/xctx"
	xOption "github.com/plinthgo/plinth/core/major/xoption"
	xRegNode "github.com/plinthgo/plinth/core/major/xreg/xregnode"
)

func TestApplicationsContextKnowsTheDebugMode(t *testing.T) {
	for _, tc := range []struct {
		name string
		env  string
		opt  xOption.Option
		want bool
	}{
		{name: "neither", opt: xOption.WithOptions(), want: false},
		{name: "environment", env: "true", opt: xOption.WithOptions(), want: true},
		{name: "option", opt: xOption.WithDebug(true), want: true},
		{name: "option against the environment", env: "true", opt: xOption.WithDebug(false), want: false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Setenv("PLINTH_DEBUG", tc.env)
			seen := !tc.want
			reg, _ := begin(t, []xRegNode.RegNodeList{{Key: "n", Node: func(ctx context.Context) (any, error) {
				seen = xCtxUtil.IsDebug(ctx)
				return 1, nil
			}}}, tc.opt)
			if got, err := xCtxUtil.Get[bool](reg.Init.Ctx, xCtx.DebugKey); err != nil || got != tc.want || seen != tc.want {
				t.Errorf("DebugKey = %t, %v, in a node %t; want %t", got, err, seen, tc.want)
			}
		})
	}
}

func TestDebugModeOfTheContextFollowsLaterOptions(t *testing.T) {
	reg, _ := begin(t, nil)
	if err := reg.Apply(xOption.WithDebug(true)); err != nil || !xCtxUtil.IsDebug(reg.Init.Ctx) {
		t.Errorf("Apply = %v, debug = %t; want true", err, xCtxUtil.IsDebug(reg.Init.Ctx))
	}
	boom := errors.New("boom")
	seen := true
	err := reg.Apply(xOption.WithDebug(false), xOption.WithNodes(xRegNode.RegNodeList{Key: "n", Node: func(ctx context.Context) (any, error) {
		seen = xCtxUtil.IsDebug(ctx)
		return nil, boom
	}}))
	if !errors.Is(err, boom) || seen || !xCtxUtil.IsDebug(reg.Init.Ctx) {
		t.Errorf("Apply = %v, meanwhile %t, then %t; want the mode as it was", err, seen, xCtxUtil.IsDebug(reg.Init.Ctx))
	}
}

func TestKeyOfTheDebugModeIsTheFrameworks(t *testing.T) {
	if err := xRegNode.Check([]xRegNode.RegNodeList{{Key: xCtx.DebugKey, Node: func(context.Context) (any, error) { return true, nil }}}, nil); err == nil {
		t.Error("Check = nil, want the key refused")
	}
}
