package snippets_test

import (
	"context"
	"testing"

	_ "github.com/plinthgo/plinth/cacheplugins/memory"
	xCache "github.com/plinthgo/plinth/core/major/xcache"
	xOption "github.com/plinthgo/plinth/core/major/xoption"
	xOptCache "github.com/plinthgo/plinth/core/major/xoption/xoptcache"
	xReg "github.com/plinthgo/plinth/core/major/xreg"
	xRegNode "github.com/plinthgo/plinth/core/major/xreg/xregnode"
)

func xoptcacheStart(ctx context.Context, nodes []xRegNode.RegNodeList) *xReg.Reg {
	reg := xReg.Register(ctx, nodes, xOption.WithCache(xOptCache.FromEnv()))
	return reg
}

func TestCacheIsChosenByTheEnvironment(t *testing.T) {
	t.Setenv("NOSQL_DRIVER", "memory")
	t.Setenv("LOG_DIR", "none")
	t.Setenv("LOG_LEVEL", "error")
	reg := xoptcacheStart(t.Context(), nil)
	if m := xCache.MustGetManager(reg.Init.Ctx); m == nil {
		t.Error("there is no cache")
	}
	if err := reg.Close(t.Context()); err != nil {
		t.Error(err)
	}
}
