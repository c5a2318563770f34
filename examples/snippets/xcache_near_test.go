package snippets_test

import (
	"testing"
	"time"

	"github.com/plinthgo/plinth/core/major/plinthtest"
	"github.com/plinthgo/plinth/core/major/xcache"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xoption/xoptcache"
)

func TestXCache_WithNear(t *testing.T) {
	t.Parallel()
	app := plinthtest.New(t,
		xoption.WithCache(xoptcache.FromEnv(), xcache.WithNear(10_000, time.Minute)),
	)
	names := xcache.KeyCacheOf[int64, string](xcache.MustGetManager(app.Context()))
	ada := "Ada"
	if err := names.Set(t.Context(), 7, &ada); err != nil {
		t.Fatal(err)
	}
	if got, found, err := names.Get(t.Context(), 7); !found || *got != ada || err != nil {
		t.Errorf("Get = %v, %t, %v, want Ada", got, found, err)
	}
}
