// Package driver defines the interface of cache backends. Applications use package
// xcache; only backends import this package.
//
// A backend stores bytes under complete keys. Package xcache implements prefixes, codecs,
// default TTLs, jitter, loads and metrics. Package cachetest is the conformance suite for
// backends.
package driver

import (
	"context"
	"errors"
	"time"

	leasedriver "github.com/plinthgo/plinth/core/common/xlease/driver"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/defined/xenv"
)

// The errors that all backends share.
var (
	// ErrWrongType reports that the key contains another kind of value, such as a list
	// under the key of a hash.
	ErrWrongType = errors.New("the key contains another kind of value")
	// ErrClosed reports a call after Close.
	ErrClosed = errors.New("the cache is closed")
	// ErrUnavailable marks an error of a backend that is temporarily unavailable.
	ErrUnavailable = errors.New("the cache is not available")
	// ErrConfig marks a permanent error of Open, such as a wrong password.
	ErrConfig = errors.New("invalid setting")
)

// InterfaceVersion is the version of this interface. It changes if an existing backend
// would still compile but behave incorrectly.
const InterfaceVersion = 1

// Versioned is implemented by a Driver that declares its InterfaceVersion. The driver
// must return a literal, because the constant is the version of the core in the build.
// Without this method the version is 1. A mismatch fails startup with an error that
// contains both versions.
type Versioned interface {
	InterfaceVersion() int
}

// Driver opens stores of one kind. It must be safe for concurrent use.
type Driver interface {
	// Name is the value of NOSQL_DRIVER that selects the driver.
	Name() string
	// Check returns every problem of c that can be detected without a connection, joined.
	// The error never contains c.Pass.
	Check(c Config) error
	// Open connects. It returns within ctx's deadline. An error that wraps ErrConfig is
	// permanent; the caller may retry after any other error.
	Open(ctx context.Context, c Config) (Store, error)
}

// Config contains the settings that drivers share, from NOSQL_*. Package xcache validates
// each value against its variable.
type Config struct {
	URL      string `env:"NOSQL_URL" secret:"true" doc:"URL that replaces host, port, user, password, database and the corresponding driver variables."`
	Host     string `env:"NOSQL_HOST" default:"localhost" doc:"Host of the server. If the driver supports several servers, a comma-separated list of hosts with optional ports."`
	Port     int    `env:"NOSQL_PORT" max:"65535" doc:"Port of the server; the default depends on the driver."`
	User     string `env:"NOSQL_USER" doc:"User name (ACL)."`
	Pass     string `env:"NOSQL_PASS" secret:"true" doc:"Password."`
	Database int    `env:"NOSQL_DATABASE" default:"0" max:"2147483647" doc:"Number of the database."`
	PoolSize int    `env:"NOSQL_POOL_SIZE" default:"10" min:"1" max:"2147483647" doc:"Maximum number of pooled connections."`
	TLS      string `env:"NOSQL_TLS" default:"disable" oneof:"disable require verify-full" doc:"Encryption of the connection; verify-full also verifies the certificate."`
	TLSCA    string `env:"NOSQL_TLS_CA" doc:"PEM file with the CA certificates for verify-full; the default is the system pool."`

	// MaxEntries is the maximum number of entries of an in-process store; 0 means the
	// driver's own setting.
	MaxEntries int
	// Now is the clock of an in-process store, for tests. Nil means time.Now.
	Now func() time.Time
	// Source provides the driver's own variables, see xenv.Load. If Source is nil, these
	// variables are not set.
	Source xenv.Source
}

// Store is an open cache. It is safe for concurrent use.
//
// The caller does not modify byte slices that it passes or receives, so a store may
// retain and share them. A key may be any string, including an empty one. Every method is
// atomic and, on a server, one round trip. It returns ctx.Err() when ctx is done. An
// expired key does not exist.
type Store interface {
	// Operations on keys and plain values.

	// Get returns the value under key.
	Get(ctx context.Context, key string) (value []byte, ok bool, err error)
	// Set writes the value under key and replaces a value of any kind.
	Set(ctx context.Context, key string, value []byte, w Write) (stored bool, err error)
	// Delete removes any number of keys of any kind and returns how many existed.
	Delete(ctx context.Context, keys ...string) (removed int, err error)
	// Exists reports whether the key exists, with a value of any kind.
	Exists(ctx context.Context, key string) (bool, error)
	// TTL returns the remaining time to live of the key, 0 if it never expires.
	TTL(ctx context.Context, key string) (ttl time.Duration, ok bool, err error)

	// Operations on hashes. A hash without fields does not exist.

	// HashGet returns the value of a field.
	HashGet(ctx context.Context, key, field string) (value []byte, ok bool, err error)
	// HashGetAll returns the fields in any order. The result is empty for a missing key.
	HashGetAll(ctx context.Context, key string) ([]Field, error)
	// HashSet writes the fields of set, removes the fields of remove, and keeps the
	// others. set and remove do not overlap. IfAbsent is met if no field of set exists,
	// IfPresent if all of them exist.
	HashSet(
		ctx context.Context, key string, set []Field, remove []string, w Write,
	) (stored bool, err error)
	// HashExists reports whether the field exists.
	HashExists(ctx context.Context, key, field string) (bool, error)
	// HashRemove removes fields, returns how many existed, and keeps the expiry.
	HashRemove(ctx context.Context, key string, fields ...string) (removed int, err error)

	// Operations on sets. A set without members does not exist.

	// SetAdd adds members and returns the number of new ones. IfAbsent and IfPresent
	// apply to the key.
	SetAdd(
		ctx context.Context, key string, members [][]byte, w Write,
	) (added int, stored bool, err error)
	// SetMembers returns the members in any order. The result is empty for a missing key.
	SetMembers(ctx context.Context, key string) ([][]byte, error)
	// SetContains reports whether member is in the set.
	SetContains(ctx context.Context, key string, member []byte) (bool, error)
	// SetCount returns the number of members; 0 for a missing key.
	SetCount(ctx context.Context, key string) (int, error)
	// SetRemove removes members, returns how many existed, and keeps the expiry.
	SetRemove(ctx context.Context, key string, members ...[]byte) (removed int, err error)

	// Operations on lists. A list without elements does not exist. Indexes start at 0;
	// negative indexes count from the end, so -1 is the last element.

	// ListPush pushes the values one after another at end and returns the new length, or
	// 0 if nothing was stored. IfAbsent and IfPresent apply to the key.
	ListPush(
		ctx context.Context, key string, end End, values [][]byte, w Write,
	) (length int, stored bool, err error)
	// ListRange returns the existing elements from start to stop, inclusive.
	ListRange(ctx context.Context, key string, start, stop int) ([][]byte, error)
	// ListIndex returns one element.
	ListIndex(ctx context.Context, key string, index int) (value []byte, ok bool, err error)
	// ListLen returns the number of elements; 0 for a missing key.
	ListLen(ctx context.Context, key string) (int, error)
	// ListPop removes and returns the element at end, and keeps the expiry.
	ListPop(ctx context.Context, key string, end End) (value []byte, ok bool, err error)
	// ListRemove removes elements equal to value and returns their number. A positive
	// count removes the first count elements, a negative count the last -count, and 0 all
	// of them. It keeps the expiry.
	ListRemove(ctx context.Context, key string, count int, value []byte) (removed int, err error)

	// Ping checks that the backend responds.
	Ping(ctx context.Context) error
	// Close closes the store. Later calls fail with ErrClosed; calling Close again does
	// nothing.
	Close() error
}

// Batcher is an optional interface of a store: it reads or writes many keys in one round
// trip. Store.Delete removes many keys.
type Batcher interface {
	// GetMany returns the values in the order of keys. A nil value is a missing key or a
	// key of another kind; an empty value is not nil.
	GetMany(ctx context.Context, keys []string) ([][]byte, error)
	// SetMany writes the items independently. Their conditions are Always.
	SetMany(ctx context.Context, items []Item) error
}

// ObjectStore is an optional interface of an in-process store: it stores values without
// encoding them. GetObject and Store.Get return the same value for a key. A value of
// SetObject and a value of Store.Set replace each other.
type ObjectStore interface {
	// GetObject returns the entry under key: the entry of SetObject, or one whose object
	// encodes to the value. The store must not retain key, because the caller may reuse
	// its memory.
	GetObject(ctx context.Context, key string) (e *Entry, ok bool, err error)
	// SetObject is Store.Set for an object. The caller does not use e afterwards.
	SetObject(ctx context.Context, key string, e *Entry, w Write) (stored bool, err error)
}

// Entry is an object with the metadata of its store. An object that embeds its entry
// needs one allocation for both; BenchmarkSetRatio in cacheplugins/memory measures the
// effect.
type Entry struct {
	Object Object
	// Deadline is set by the store before other goroutines see the entry.
	Deadline int64
}

// Object is an immutable value.
type Object interface {
	// Encode returns the value's bytes, or ErrWrongType if the object is not a plain
	// value.
	Encode() ([]byte, error)
}

// Scanner is an optional interface of a store: it iterates over keys without blocking
// other callers.
type Scanner interface {
	// Scan calls page with batches of keys of any kind that start with prefix, until page
	// returns false. prefix is literal, not a pattern. A key that exists during the whole
	// scan is returned at least once; a key that is added or removed during the scan may
	// or may not be returned. page runs in the caller's goroutine without locks and may
	// use the store.
	Scan(ctx context.Context, prefix string, page func(keys []string) bool) error
}

// Leaser is an optional interface of a store: it stores leases under keys that start with
// prefix.
type Leaser interface {
	LeaseBackend(prefix string) leasedriver.Backend
}

// Invalidator is an optional interface of a store on a server: it reports changed keys,
// so that the process can drop its copies.
type Invalidator interface {
	// Watch starts to report changed keys under prefix to w. It stops, and its goroutines
	// exit soon, after ctx is canceled or the store is closed. prefix is literal, not a
	// pattern. Watch returns once it has started, possibly before it is connected. It
	// reconnects after a connection breaks, without a limit.
	Watch(ctx context.Context, prefix string, w Watcher) error
	// Staleness is the longest time that Watch needs to detect a broken connection.
	Staleness() time.Duration
	// GetTTL is Get and TTL in one round trip. ttl is 0 if the key never expires, and
	// positive even if less than a millisecond is left. If the key is written
	// concurrently, value and ttl may belong to different writes.
	GetTTL(ctx context.Context, key string) (value []byte, ttl time.Duration, ok bool, err error)
	// GetManyTTL is GetTTL for many keys, with the semantics of Batcher.GetMany. Values
	// and TTLs are in the order of keys. The TTL of a missing value is undefined.
	GetManyTTL(
		ctx context.Context, keys []string,
	) (values [][]byte, ttls []time.Duration, err error)
}

// Watcher receives changed keys. Its methods are called one at a time and do not block.
type Watcher interface {
	// Connected reports that all changes from now on will be reported.
	Connected()
	// Disconnected reports that changes may be missed, including the most recent ones.
	Disconnected()
	// Invalidate reports keys that were written, removed or have expired; nil means all
	// keys.
	Invalidate(keys []string)
}

// Defaults is an optional interface of a store: it provides the default TTL for a manager
// without a setting.
type Defaults interface {
	DefaultTTL() time.Duration
}

// Provider is an optional interface of a store: it adds values to the application's
// context, such as the backend's client.
type Provider interface {
	Values() map[xctx.ContextKey]any
}
