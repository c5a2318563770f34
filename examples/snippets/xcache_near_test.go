package snippets_test

import (
	"testing"
	"time"

	"github.com/plinthgo/plinth/core/major/plinthtest"
	xCache "github.com/plinthgo/plinth/core/major/xcache"
	xOption "github.com/plinthgo/plinth/core/major/xoption"
	xOptCache "github.com/plinthgo/plinth/core/major/xoption/xoptcache"
)

func TestXCacheWithNearLeavesTheViewsAsTheyAre(t *testing.T) {
	t.Parallel()
	app := plinthtest.New(t,
		xOption.WithCache(xOptCache.FromEnv(), xOptCache.WithNear(10_000, time.Minute)),
	)
	names := xCache.KeyCacheOf[int64, string](xCache.MustGetManager(app.Context()))
	ada := "Ada"
	if err := names.Set(t.Context(), 7, &ada); err != nil {
		t.Fatal(err)
	}
	if got, found, err := names.Get(t.Context(), 7); !found || *got != ada || err != nil {
		t.Errorf("Get = %v, %t, %v, want Ada", got, found, err)
	}
}
