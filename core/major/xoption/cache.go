package xoption

import (
	"context"

	"github.com/plinthgo/plinth/core/common/xlease"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/major/internal/startup"
	"github.com/plinthgo/plinth/core/major/xcache"
)

// WithCache opens a cache, after the database and before the application's nodes. It takes part in the readiness and is
// closed after them. Given more than once, its options add up as if they had been given to one.
func WithCache(opts ...xcache.ManagerOption) Option {
	return func(p *startup.Plan) {
		p.AddCache(opts...)
		if phase := cachePhase(p); !p.Has(phase.Key) {
			p.AddPhase(phase)
		}
	}
}

func cachePhase(p *startup.Plan) startup.Phase {
	return startup.Phase{
		Name:    "cache",
		Key:     xctx.CacheManagerKey,
		Rank:    startup.RankCache,
		Enabled: func() bool { return p.ResolveCache().Options.Enabled() },
		Check:   func(context.Context) error { return p.ResolveCache().Err },
		Start: func(ctx context.Context) (any, error) {
			r := p.ResolveCache()
			if r.Value == nil {
				return nil, r.Err
			}
			return r.Value.Open(ctx)
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
