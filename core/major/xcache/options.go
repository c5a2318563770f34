package xcache

import (
	"context"
	"fmt"
	"time"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// none is the driver name that disables the cache.
const none = "none"

// Options configures a cache.
type Options struct {
	Driver         string `env:"NOSQL_DRIVER" default:"none" doc:"Backend: the name of an imported driver, such as redis or memory, or none."`
	Config         driver.Config
	ConnectTimeout time.Duration `env:"NOSQL_CONNECT_TIMEOUT" default:"30s" max:"1h" doc:"Time for which startup retries to connect; 0 means a single attempt."`
	Prefix         string        `env:"NOSQL_PREFIX" doc:"Prefix of every key."`
	// DefaultTTL is the TTL of keys that are written without WithTTL; 0 means no expiry,
	// nil the backend's default.
	DefaultTTL *time.Duration
	// TTLJitter shortens each TTL by a random fraction of at most TTLJitter (0 to 1), so
	// that keys written together do not expire together.
	TTLJitter float64
	// Codec encodes values; nil means JSON. Strings, byte slices and integers bypass it.
	Codec Codec
	// Metrics receives every operation. It is called concurrently and must not block. It
	// may be nil.
	Metrics func(ctx context.Context, e Event)
	// FailOpen makes GetOrLoad call the loader if the backend fails. The error is
	// reported to Metrics only.
	FailOpen bool
	// Log receives a message for each failed attempt to connect; nil means the logger
	// CACHE.
	Log *xlog.LogNamedLogger

	// NearMaxEntries is the maximum number of entries of a near cache in front of a
	// server; 0 disables it. In-process backends ignore it. The memory backend stores the
	// copies.
	NearMaxEntries int `env:"NOSQL_NEAR_MAX_ENTRIES" default:"0" max:"2147483647" doc:"Maximum number of entries of the near cache; 0 disables it."`
	// NearTTL is the maximum TTL of a copy. It must be positive if the near cache is
	// enabled.
	NearTTL time.Duration `env:"NOSQL_NEAR_TTL" default:"1m" min:"1ns" max:"1h" doc:"Maximum TTL of an entry of the near cache."`
	// NearStore replaces the memory backend as the store of the copies. It must be a
	// driver.ObjectStore. The manager owns it after New returns without an error.
	NearStore driver.Store

	registry *Registry // nil means the default registry
	problems []error   // errors of FromEnv
}

// ManagerOption changes Options. Options are applied in order, so a later option
// overrides an earlier one.
type ManagerOption func(*Options)

// NewOptions applies opts to zero Options; a nil option is skipped. Resolve reports
// invalid options.
func NewOptions(opts ...ManagerOption) Options {
	var o Options
	for _, opt := range opts {
		if opt != nil {
			opt(&o)
		}
	}
	return o
}

// Enabled reports whether a driver other than "none" is configured.
func (o Options) Enabled() bool { return o.Driver != "" && o.Driver != none }

// check returns the problems of o that do not depend on a driver.
func (o Options) check() []error {
	problems := o.problems
	if o.ConnectTimeout < 0 {
		problems = append(problems,
			fmt.Errorf("xcache: connect timeout %s is negative", o.ConnectTimeout))
	}
	if o.DefaultTTL != nil && *o.DefaultTTL < 0 {
		problems = append(problems, fmt.Errorf("xcache: default TTL %s is negative", *o.DefaultTTL))
	}
	if !(o.TTLJitter >= 0 && o.TTLJitter <= 1) {
		problems = append(problems,
			fmt.Errorf("xcache: TTL jitter %v is not between 0 and 1", o.TTLJitter))
	}
	if (o.NearMaxEntries > 0 || o.NearStore != nil) && o.NearTTL <= 0 {
		problems = append(problems,
			fmt.Errorf("xcache: near cache: TTL %s is not positive", o.NearTTL))
	}
	return problems
}

func init() { xenv.Register[Options]("Cache") }

// FromEnv reads NOSQL_* from the environment. The cache is disabled if NOSQL_DRIVER is
// "none" or not set. NOSQL_URL overrides the parts of an address. A positive
// NOSQL_NEAR_MAX_ENTRIES enables the near cache, see WithNear.
func FromEnv() ManagerOption {
	return func(o *Options) {
		s := xenv.Environment()
		defaults, _ := xenv.Load[Options](nil) // Register has validated the defaults
		o.Driver, o.NearMaxEntries = "", 0
		o.ConnectTimeout, o.NearTTL = defaults.ConnectTimeout, defaults.NearTTL
		o.Config = driver.Config{Now: o.Config.Now, Source: s}
		o.problems = append(o.problems, xenv.Fill(s, o))
	}
}

// WithDriver selects the backend.
func WithDriver(name string) ManagerOption { return func(o *Options) { o.Driver = name } }

// WithConfig changes the backend's settings.
func WithConfig(change func(*driver.Config)) ManagerOption {
	return func(o *Options) { change(&o.Config) }
}

// WithPrefix sets the prefix of every key.
func WithPrefix(prefix string) ManagerOption { return func(o *Options) { o.Prefix = prefix } }

// WithDefaultTTL sets the TTL of keys that are written without WithTTL; 0 means no
// expiry.
func WithDefaultTTL(ttl time.Duration) ManagerOption {
	return func(o *Options) { o.DefaultTTL = &ttl }
}

// WithTTLJitter sets Options.TTLJitter.
func WithTTLJitter(fraction float64) ManagerOption {
	return func(o *Options) { o.TTLJitter = fraction }
}

// WithCodec replaces JSON. Strings, byte slices and integers bypass the codec.
func WithCodec(codec Codec) ManagerOption { return func(o *Options) { o.Codec = codec } }

// WithMetrics reports every operation to observe, which is called concurrently and must
// not block.
func WithMetrics(observe func(ctx context.Context, e Event)) ManagerOption {
	return func(o *Options) { o.Metrics = observe }
}

// WithFailOpen sets Options.FailOpen. Methods other than GetOrLoad still return the
// backend's errors.
func WithFailOpen() ManagerOption { return func(o *Options) { o.FailOpen = true } }

// WithNear caches copies of up to maxEntries values in the process, each for at most ttl,
// if the backend is a server that reports changed keys. 0 entries disable the near cache.
func WithNear(maxEntries int, ttl time.Duration) ManagerOption {
	return func(o *Options) { o.NearMaxEntries, o.NearTTL = maxEntries, ttl }
}

// WithConnectTimeout sets how long Open retries to connect; 0 means a single attempt.
func WithConnectTimeout(d time.Duration) ManagerOption {
	return func(o *Options) { o.ConnectTimeout = d }
}

// WithRegistry finds the backend in r instead of the default registry, for tests.
func WithRegistry(r *Registry) ManagerOption { return func(o *Options) { o.registry = r } }
