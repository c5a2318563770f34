package startup

import (
	"github.com/plinthgo/plinth/core/major/xcache"
	"github.com/plinthgo/plinth/core/major/xdb"
)

// Resolved is the result of the options of a database or a cache.
type Resolved[O interface{ Enabled() bool }, V any] struct {
	Options O
	Value   V // the zero value if nothing is configured or Err is set
	Err     error
}

// AddDatabase adds options of the database.
func (p *Plan) AddDatabase(opts ...xdb.Option) {
	p.databaseOptions, p.database = append(p.databaseOptions, opts...), nil
}

// AddCache adds options of the cache.
func (p *Plan) AddCache(opts ...xcache.ManagerOption) {
	p.cacheOptions, p.cache = append(p.cacheOptions, opts...), nil
}

// ResolveDatabase evaluates the options of the database: each option once, however often it is called.
// The environment must be complete.
func (p *Plan) ResolveDatabase() *Resolved[xdb.Options, *xdb.Database] {
	if p.database == nil {
		p.database = resolve(xdb.NewOptions(p.databaseOptions...), xdb.Resolve)
	}
	return p.database
}

// ResolveCache is ResolveDatabase for the cache.
func (p *Plan) ResolveCache() *Resolved[xcache.Options, *xcache.Cache] {
	if p.cache == nil {
		p.cache = resolve(xcache.NewOptions(p.cacheOptions...), xcache.Resolve)
	}
	return p.cache
}

func resolve[O interface{ Enabled() bool }, V any](options O, find func(O) (V, error)) *Resolved[O, V] {
	r := &Resolved[O, V]{Options: options}
	if options.Enabled() {
		r.Value, r.Err = find(options)
	}
	return r
}
