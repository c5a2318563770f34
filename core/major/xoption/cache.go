package xoption

import (
	"context"

	"github.com/plinthgo/plinth/core/common/xlease"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/major/internal/startup"
	"github.com/plinthgo/plinth/core/major/xcache"
)

// WithCache opens a cache after the database and before the application's nodes. The
// cache contributes to readiness and is closed after the nodes. Repeated calls combine
// their options.
func WithCache(opts ...xcache.ManagerOption) Option {
	return func(p *startup.Plan) {
		p.CacheOptions = append(p.CacheOptions, opts...)
		p.Cache = cachePhase
	}
}

func cachePhase(p *startup.Plan) *startup.Phase {
	options := xcache.NewOptions(p.CacheOptions...)
	if !options.Enabled() {
		return nil
	}
	cache, err := xcache.Resolve(options)
	var m *xcache.Manager
	return &startup.Phase{
		Name: "cache", Key: xctx.CacheManagerKey, Err: err,
		Start: func(ctx context.Context) (any, error) {
			m, err = cache.Open(ctx)
			return m, err
		},
		Values: func() map[xctx.ContextKey]any { return m.Values() },
		Detail: func() string { return m.String() },
		Leases: func(context.Context) (*xlease.Leases, error) { return m.Leases() },
	}
}
