package xcache

import (
	"context"
	"fmt"
	"time"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// none is the name of the driver that means "no cache".
const none = "none"

// Options say which cache to open, and how.
type Options struct {
	Driver         string `env:"NOSQL_DRIVER" default:"none" doc:"Backend: the name of one that is imported, such as redis or memory, or none."`
	Config         driver.Config
	ConnectTimeout time.Duration `env:"NOSQL_CONNECT_TIMEOUT" default:"30s" max:"1h" doc:"How long the start waits for a backend that does not answer yet; 0 tries once."`
	Prefix         string        `env:"NOSQL_PREFIX" doc:"Prefix of every key."`
	// DefaultTTL is the TTL of a key that is written without one; 0 is for ever, nil the
	// backend's default.
	DefaultTTL *time.Duration
	// TTLJitter shortens each TTL by a random part of it, at most this fraction (0 to 1),
	// so that keys written together do not expire together. It never makes a TTL longer.
	TTLJitter float64
	// Codec encodes values; nil is JSON. Strings, byte slices and integers stay as they
	// are.
	Codec Codec
	// Metrics receives every operation, from any goroutine, and must not block. It may be
	// nil.
	Metrics func(ctx context.Context, e Event)
	// FailOpen lets GetOrLoad load from the source if the backend fails; the error is
	// only reported to the metrics.
	FailOpen bool
	// Log receives a line for each attempt that failed; nil is the log named CACHE.
	Log *xlog.LogNamedLogger

	// NearMaxEntries bounds the copies of a near cache in front of a server that reports
	// keys that change; 0 is none. A backend in the process needs none, and does without.
	// The backend "memory" stores the copies.
	NearMaxEntries int `env:"NOSQL_NEAR_MAX_ENTRIES" default:"0" max:"2147483647" doc:"Entries at most of a near cache in the process, which the server keeps up to date; 0 is none."`
	// NearTTL bounds the TTL of a copy. It must be positive if there is a near cache.
	NearTTL time.Duration `env:"NOSQL_NEAR_TTL" default:"1m" min:"1ns" max:"1h" doc:"TTL of an entry of the near cache at most."`
	// NearStore stores the copies of a near cache instead. It must be a
	// driver.ObjectStore, and the manager owns it once New has returned without an error.
	NearStore driver.Store

	registry *Registry // of the driver; nil is the default one
	problems []error   // of FromEnv; nil is none
}

// ManagerOption changes Options, also a field that no function of this package is for.
// Options take effect in their order, so a later one wins.
type ManagerOption func(*Options)

// NewOptions returns what opts make; a nil option is skipped. Problems of options are
// reported by Resolve.
func NewOptions(opts ...ManagerOption) Options {
	var o Options
	for _, opt := range opts {
		if opt != nil {
			opt(&o)
		}
	}
	return o
}

// Enabled reports whether there is a cache to open: a driver other than "none" is named.
func (o Options) Enabled() bool { return o.Driver != "" && o.Driver != none }

// check returns what is wrong with o in itself.
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

// FromEnv reads NOSQL_* from the environment. NOSQL_DRIVER that is "none" or not set
// means no cache. NOSQL_URL wins over the parts of an address, and NOSQL_NEAR_MAX_ENTRIES
// over 0 is WithNear.
func FromEnv() ManagerOption {
	return func(o *Options) {
		s := xenv.Environment()
		defaults, _ := xenv.Load[Options](nil) // Register has checked the defaults
		o.Driver, o.ConnectTimeout, o.NearMaxEntries, o.NearTTL = "",
			defaults.ConnectTimeout, 0, defaults.NearTTL
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

// WithPrefix puts prefix before every key.
func WithPrefix(prefix string) ManagerOption { return func(o *Options) { o.Prefix = prefix } }

// WithDefaultTTL sets the TTL of a key that is written without WithTTL; 0 is for ever.
func WithDefaultTTL(ttl time.Duration) ManagerOption {
	return func(o *Options) { o.DefaultTTL = &ttl }
}

// WithTTLJitter sets Options.TTLJitter.
func WithTTLJitter(fraction float64) ManagerOption {
	return func(o *Options) { o.TTLJitter = fraction }
}

// WithCodec replaces JSON. Strings, byte slices and integers stay as they are.
func WithCodec(codec Codec) ManagerOption { return func(o *Options) { o.Codec = codec } }

// WithMetrics reports every operation to observe, which is called from any goroutine and
// must not block.
func WithMetrics(observe func(ctx context.Context, e Event)) ManagerOption {
	return func(o *Options) { o.Metrics = observe }
}

// WithFailOpen lets GetOrLoad load from the source if the backend fails: see
// Options.FailOpen. Other methods return the backend's errors as ever.
func WithFailOpen() ManagerOption { return func(o *Options) { o.FailOpen = true } }

// WithNear keeps copies of up to maxEntries values in the process, each for ttl at most,
// if the backend is a server that reports keys that change; 0 entries are none.
func WithNear(maxEntries int, ttl time.Duration) ManagerOption {
	return func(o *Options) { o.NearMaxEntries, o.NearTTL = maxEntries, ttl }
}

// WithConnectTimeout bounds how long the start waits for a backend that does not answer
// yet; 0 tries once.
func WithConnectTimeout(d time.Duration) ManagerOption {
	return func(o *Options) { o.ConnectTimeout = d }
}

// WithRegistry finds the backend in r instead of the default registry, for tests.
func WithRegistry(r *Registry) ManagerOption { return func(o *Options) { o.registry = r } }
