package xoption

import (
	"context"

	"github.com/plinthgo/plinth/core/common/xlease"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/major/internal/startup"
	"github.com/plinthgo/plinth/core/major/xcache"
	"github.com/plinthgo/plinth/core/major/xoption/xoptcache"
)

// WithCache opens a cache, after the database and before the application's nodes. It takes part in the readiness and is
// closed after them. Given more than once, its options add up as if they had been given to one.
func WithCache(opts ...xoptcache.Option) Option {
	return func(p *startup.Plan) {
		p.Cache = append(p.Cache, opts...)
		if phase := cachePhase(p); !p.Has(phase.Key) {
			p.AddPhase(phase)
		}
	}
}

func cachePhase(p *startup.Plan) startup.Phase {
	config := func() (*xoptcache.Config, error) { return xoptcache.Build(p.Cache...) }
	return startup.Phase{
		Name: "cache",
		Key:  xctx.CacheManagerKey,
		Rank: startup.RankCache,
		Enabled: func() bool {
			c, err := config()
			return err != nil || c.Enabled()
		},
		Check: func(ctx context.Context) error {
			c, err := config()
			if err != nil {
				return err
			}
			return c.Check(ctx)
		},
		Start: func(ctx context.Context) (any, error) {
			c, err := config()
			if err != nil {
				return nil, err
			}
			return c.Open(ctx)
		},
		Values:   func(value any) map[xctx.ContextKey]any { return manager(value).Values() },
		Describe: func(value any) string { return manager(value).String() },
		Leases:   func(_ context.Context, value any) (*xlease.Leases, error) { return manager(value).Leases() },
	}
}

// manager returns the value that the phase has started with.
func manager(value any) *xcache.Manager {
	return value.(*xcache.Manager) //nolint:forcetypeassert // it is what Start returned
}
