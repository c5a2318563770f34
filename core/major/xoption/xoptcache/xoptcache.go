// Package xoptcache describes the cache of an application.
//
//	xoption.WithCache(xoptcache.FromEnv(), xoptcache.WithDefaultTTL(time.Hour))
//
// Options apply in their order, so a later one wins. Nothing is opened before Open.
package xoptcache

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xcache"
	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// None is the name of the driver that means "no cache".
const None = "none"

// Config is a described cache. Build makes one.
type Config struct {
	options  xcache.Options
	registry *xcache.Registry // nil is the default one
}

// Option describes a part of the cache.
type Option func(*Config)

// FromEnv takes the settings from the NOSQL_* variables. They are read when Build runs the option, that is
// after .env is loaded. Where NOSQL_DRIVER is not set, or is "none", there is no cache. NOSQL_URL wins over the parts
// of an address, and NOSQL_NEAR_MAX_ENTRIES over 0 asks for a near cache.
func FromEnv() Option {
	return func(c *Config) {
		c.options.Driver = xenv.String(xenv.NoSqlDriver)
		c.options.ConnectTimeout = xenv.Duration(xenv.NoSqlConnectTimeout)
		c.options.Config = driver.Config{
			URL:          xenv.String(xenv.NoSqlURL),
			Host:         xenv.String(xenv.NoSqlHost),
			Port:         xenv.Int(xenv.NoSqlPort),
			User:         xenv.String(xenv.NoSqlUser),
			Pass:         xenv.String(xenv.NoSqlPass),
			Database:     xenv.Int(xenv.NoSqlDatabase),
			PoolSize:     xenv.Int(xenv.NoSqlPoolSize),
			Mode:         given(xenv.NoSqlMode),
			Master:       xenv.String(xenv.NoSqlMaster),
			SentinelUser: xenv.String(xenv.NoSqlSentinelUser),
			SentinelPass: xenv.String(xenv.NoSqlSentinelPass),
			TLS:          given(xenv.NoSqlTLS),
			TLSCA:        xenv.String(xenv.NoSqlTLSCA),
			Memory: driver.Memory{
				DefaultTTL: xenv.Duration(xenv.NoSqlMemoryDefaultTTL),
				MaxEntries: xenv.Int(xenv.NoSqlMemoryMaxEntries),
				ShardCount: xenv.Int(xenv.NoSqlMemoryShardCount),
			},
			Now: c.options.Config.Now,
		}
		c.near(xenv.Int(xenv.NoSqlNearMaxEntries), xenv.Duration(xenv.NoSqlNearTTL))
		if prefix := xenv.String(xenv.NoSqlPrefix); prefix != "" {
			c.manager(xcache.WithPrefix(prefix))
		}
	}
}

// given returns a value without the variable's default, which every driver knows: what somebody has chosen for nothing
// may be worth an error, and what nobody has chosen is not.
func given(key xenv.EnvKey) string {
	if _, set := xenv.GetEnv(key); !set {
		return ""
	}
	return xenv.String(key)
}

// WithDriver selects the backend.
func WithDriver(name string) Option { return func(c *Config) { c.options.Driver = name } }

// WithConfig changes the backend's settings.
func WithConfig(change func(*driver.Config)) Option {
	return func(c *Config) { change(&c.options.Config) }
}

// WithPrefix puts prefix before every key.
func WithPrefix(prefix string) Option { return withManager(xcache.WithPrefix(prefix)) }

// WithDefaultTTL sets the life of a key that is written without one; 0 is for ever.
func WithDefaultTTL(ttl time.Duration) Option { return withManager(xcache.WithDefaultTTL(ttl)) }

// WithTTLJitter shortens each life by a random part of it, at most fraction (0 to 1).
func WithTTLJitter(fraction float64) Option { return withManager(xcache.WithTTLJitter(fraction)) }

// WithCodec replaces JSON.
func WithCodec(codec xcache.Codec) Option { return withManager(xcache.WithCodec(codec)) }

// WithMetrics reports every operation to m.
func WithMetrics(m xcache.Metrics) Option { return withManager(xcache.WithMetrics(m)) }

// WithFailOpen lets GetOrLoad go on without a backend that fails.
func WithFailOpen() Option { return withManager(xcache.WithFailOpen()) }

// WithMaxEntries bounds the entries of a backend in the process, all kinds together.
func WithMaxEntries(n int) Option {
	return WithConfig(func(c *driver.Config) { c.Memory.MaxEntries = n })
}

// WithNear keeps copies of up to maxEntries values in the process, each for ttl at most, where the backend is a server
// that tells of keys that change; 0 entries are no near cache. A backend in the process does without. The copies are
// held by the "memory" backend, which the application imports too.
func WithNear(maxEntries int, ttl time.Duration) Option {
	return func(c *Config) { c.near(maxEntries, ttl) }
}

// WithConnectTimeout bounds how long the start waits for a backend that is not there yet; 0 tries once.
func WithConnectTimeout(d time.Duration) Option {
	return func(c *Config) { c.options.ConnectTimeout = d }
}

// WithClock gives a backend in the process another clock, for tests.
func WithClock(now func() time.Time) Option {
	return WithConfig(func(c *driver.Config) { c.Now = now })
}

// WithRegistry finds the backend in r instead of the default registry, for tests.
func WithRegistry(r *xcache.Registry) Option { return func(c *Config) { c.registry = r } }

// WithLogger writes the lines of the start to log.
func WithLogger(log *xlog.LogNamedLogger) Option { return func(c *Config) { c.options.Log = log } }

func withManager(o xcache.ManagerOption) Option { return func(c *Config) { c.manager(o) } }

// manager adds an option of the manager.
func (c *Config) manager(o xcache.ManagerOption) { c.options.Manager = append(c.options.Manager, o) }

// near describes a near cache, or none.
func (c *Config) near(maxEntries int, ttl time.Duration) {
	c.options.Near = nil
	if maxEntries != 0 {
		c.options.Near = &xcache.NearOptions{MaxEntries: maxEntries, TTL: ttl}
	}
}

// Build runs the options. It fails only where an option is nil; Check knows the other problems.
func Build(opts ...Option) (*Config, error) {
	c := &Config{registry: xcache.DefaultRegistry()}
	var problems []error
	for i, o := range opts {
		if o == nil {
			problems = append(problems, fmt.Errorf("xoptcache: option %d is nil", i+1))
			continue
		}
		o(c)
	}
	return c, errors.Join(problems...)
}

// Enabled reports whether there is a cache at all.
func (c *Config) Enabled() bool { return c.options.Driver != "" && c.options.Driver != None }

// Driver returns the name of the backend.
func (c *Config) Driver() string { return c.options.Driver }

// Check returns every problem of the settings that can be known without a connection, joined.
func (c *Config) Check(context.Context) error {
	if !c.Enabled() {
		return nil
	}
	return c.registry.Check(c.options)
}

// Open opens the cache.
func (c *Config) Open(ctx context.Context) (*xcache.Manager, error) {
	return c.registry.Open(ctx, c.options)
}
