package snippets_test

import (
	"context"
	"testing"

	_ "github.com/plinthgo/plinth/cacheplugins/memory"
	"github.com/plinthgo/plinth/core/major/xcache"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xoption/xoptcache"
	"github.com/plinthgo/plinth/core/major/xreg"
	"github.com/plinthgo/plinth/core/major/xreg/xregnode"
)

func xoptcacheStart(ctx context.Context, nodes []xregnode.Node) *xreg.Reg {
	reg := xreg.Register(ctx, nodes, xoption.WithCache(xoptcache.FromEnv()))
	return reg
}

func TestXoptcache_FromEnv(t *testing.T) {
	t.Setenv("NOSQL_DRIVER", "memory")
	t.Setenv("LOG_DIR", "none")
	t.Setenv("LOG_LEVEL", "error")
	reg := xoptcacheStart(t.Context(), nil)
	if m := xcache.MustGetManager(reg.Init.Ctx); m == nil {
		t.Error("cache is nil")
	}
	if err := reg.Close(t.Context()); err != nil {
		t.Error(err)
	}
}
