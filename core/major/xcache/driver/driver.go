// Package driver defines what a cache backend implements. Applications use package
// xcache; only backends import this package.
//
// A backend stores bytes under keys that are complete: prefix, codec, time to live,
// jitter, loads and metrics are the portable package's. Package cachetest is the
// definition of the behaviour, and every backend runs it.
package driver

import (
	"context"
	"errors"
	"time"

	leasedriver "github.com/plinthgo/plinth/core/common/xlease/driver"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/defined/xenv"
)

// The errors that every backend gives for the same reasons.
var (
	// ErrWrongType reports that the key holds a value of another kind, such as a list
	// under a hash's key.
	ErrWrongType = errors.New("the key holds another kind of value")
	// ErrClosed reports a call after Close.
	ErrClosed = errors.New("the cache is closed")
	// ErrUnavailable marks an error of a backend that cannot be reached, or cannot serve
	// just now: it may pass.
	ErrUnavailable = errors.New("the cache is not available")
	// ErrConfig marks an error of Open that waiting cannot mend, such as a wrong
	// password.
	ErrConfig = errors.New("wrong setting")
)

// InterfaceVersion counts the changes of this package after which a backend that still
// compiles might do the wrong thing.
const InterfaceVersion = 1

// Versioned is implemented by a Driver that says for which InterfaceVersion it was
// written: with the number itself, since the constant is whatever the program was built
// with. A driver that does not say was written for version 1. Any other version than this
// package's ends the start, with an error that names both.
type Versioned interface {
	InterfaceVersion() int
}

// Driver opens stores of one kind. It must be safe for concurrent use.
type Driver interface {
	// Name is the value of NOSQL_DRIVER that selects the driver.
	Name() string
	// Check returns every problem of c that can be known without a connection, joined. It
	// never shows c.Pass.
	Check(c Config) error
	// Open connects. It returns within ctx's deadline. An error that wraps ErrConfig is
	// final; after any other one the caller may try again.
	Open(ctx context.Context, c Config) (Store, error)
}

// Config holds the settings that drivers share, as NOSQL_* gives them. Package xcache has
// checked each value against its variable.
type Config struct {
	URL      string `env:"NOSQL_URL" secret:"true" doc:"One URL in place of host, port, user, password, database and what the driver adds to them."`
	Host     string `env:"NOSQL_HOST" default:"localhost" doc:"Host of the server; if the driver connects to several, they are separated by commas, each with its port where it differs."`
	Port     int    `env:"NOSQL_PORT" max:"65535" doc:"Port of the server; by default the driver's usual one."`
	User     string `env:"NOSQL_USER" doc:"User of the access control list."`
	Pass     string `env:"NOSQL_PASS" secret:"true" doc:"Password."`
	Database int    `env:"NOSQL_DATABASE" default:"0" max:"2147483647" doc:"Number of the database."`
	PoolSize int    `env:"NOSQL_POOL_SIZE" default:"10" min:"1" max:"2147483647" doc:"Connections of the pool at most."`
	TLS      string `env:"NOSQL_TLS" default:"disable" oneof:"disable require verify-full" doc:"Encryption of the connection; verify-full also checks the certificate."`
	TLSCA    string `env:"NOSQL_TLS_CA" doc:"PEM file of the certificates that sign the server's, for verify-full; by default those of the system."`

	// MaxEntries bounds the entries of a store in the process, all kinds together; 0 is
	// the driver's own setting.
	MaxEntries int
	// Now is the clock of a store in the process, for tests. Nil is the real time.
	Now func() time.Time
	// Source is where a driver reads variables of its own: see xenv.Load. Nil sets none.
	Source xenv.Source
}

// Store is an open cache. It is safe for concurrent use.
//
// The caller leaves byte slices that it passes in or gets back unchanged, so a store may
// keep and share them. A key may be any string, also an empty one. Every method is atomic
// and, on a server, one round trip; it ends with ctx's error when ctx ends. A key that
// has expired is missing.
type Store interface {
	// The operations on keys and on plain values.

	// Get returns the value under key.
	Get(ctx context.Context, key string) (value []byte, ok bool, err error)
	// Set writes the value under key, whatever kind of value the key held.
	Set(ctx context.Context, key string, value []byte, w Write) (stored bool, err error)
	// Delete removes keys of any kind, however many, and counts those that existed.
	Delete(ctx context.Context, keys ...string) (removed int, err error)
	// Exists reports whether the key holds a value of any kind.
	Exists(ctx context.Context, key string) (bool, error)
	// TTL returns how long the key will live, 0 for ever.
	TTL(ctx context.Context, key string) (ttl time.Duration, ok bool, err error)

	// The operations on hashes. A hash without fields does not exist.

	// HashGet returns a field's value.
	HashGet(ctx context.Context, key, field string) (value []byte, ok bool, err error)
	// HashGetAll returns the fields in any order; none for a missing key.
	HashGetAll(ctx context.Context, key string) ([]Field, error)
	// HashSet writes the fields of set and removes those of remove, which are others; it
	// leaves the rest as it is. IfAbsent holds where none of the fields of set exists,
	// IfPresent where all do.
	HashSet(ctx context.Context, key string, set []Field, remove []string, w Write) (stored bool,
		err error)
	// HashExists reports whether the field exists.
	HashExists(ctx context.Context, key, field string) (bool, error)
	// HashRemove removes fields, counts those that existed, and leaves the expiry as it
	// is.
	HashRemove(ctx context.Context, key string, fields ...string) (removed int, err error)

	// The operations on sets. A set without members does not exist.

	// SetAdd adds members and counts the new ones. IfAbsent and IfPresent are about the
	// key.
	SetAdd(ctx context.Context, key string, members [][]byte, w Write) (added int, stored bool,
		err error)
	// SetMembers returns the members in any order; none for a missing key.
	SetMembers(ctx context.Context, key string) ([][]byte, error)
	// SetContains reports whether member is in the set.
	SetContains(ctx context.Context, key string, member []byte) (bool, error)
	// SetCount returns the number of members; 0 for a missing key.
	SetCount(ctx context.Context, key string) (int, error)
	// SetRemove removes members, counts those that existed, and leaves the expiry as it
	// is.
	SetRemove(ctx context.Context, key string, members ...[]byte) (removed int, err error)

	// The operations on lists. A list without elements does not exist. Indexes count from
	// 0, and from -1 at the end backwards.

	// ListPush pushes the values one after the other at the end, and returns the list's
	// length after it; 0 where nothing was stored. IfAbsent and IfPresent are about the
	// key.
	ListPush(ctx context.Context, key string, end End, values [][]byte, w Write) (length int,
		stored bool, err error)
	// ListRange returns the elements from start to stop, both included; those that there
	// are.
	ListRange(ctx context.Context, key string, start, stop int) ([][]byte, error)
	// ListIndex returns one element.
	ListIndex(ctx context.Context, key string, index int) (value []byte, ok bool, err error)
	// ListLen returns the number of elements; 0 for a missing key.
	ListLen(ctx context.Context, key string) (int, error)
	// ListPop takes one element from the end, and leaves the expiry as it is.
	ListPop(ctx context.Context, key string, end End) (value []byte, ok bool, err error)
	// ListRemove removes elements equal to value: the first count from the head, the last
	// -count from the tail, or all where count is 0. It counts them and leaves the expiry
	// as it is.
	ListRemove(ctx context.Context, key string, count int, value []byte) (removed int, err error)

	// Ping asks the backend for an answer.
	Ping(ctx context.Context) error
	// Close ends the store; a second Close does nothing. Later calls fail with ErrClosed.
	Close() error
}

// Batcher is an optional ability of a store: many keys in one round trip. Deleting many
// keys is Store.Delete.
type Batcher interface {
	// GetMany returns the values in the order of keys; nil is a missing key or one of
	// another kind, which is never a value, since a value that is empty is not nil.
	GetMany(ctx context.Context, keys []string) ([][]byte, error)
	// SetMany writes the items, each by itself. Their conditions are Always.
	SetMany(ctx context.Context, items []Item) error
}

// ObjectStore is an optional ability of a store in the process of its callers: it keeps
// values as they are, without bytes in between. What is written here and what Set writes
// is one value under one key.
type ObjectStore interface {
	// GetObject returns the entry under key: the one that SetObject was given, or one
	// whose object encodes to the value. The key may be changed when the call has
	// returned.
	GetObject(ctx context.Context, key string) (e *Entry, ok bool, err error)
	// SetObject is Store.Set for an object. The caller does not use e again.
	SetObject(ctx context.Context, key string, e *Entry, w Write) (stored bool, err error)
}

// Entry is an object with what its store records about it. An object that embeds its
// entry is one allocation with it; BenchmarkSetRatio in cacheplugins/memory measures what
// that saves.
type Entry struct {
	Object Object
	// Deadline belongs to the store, which sets it before other goroutines see the entry.
	Deadline int64
}

// Object is a value that never changes.
type Object interface {
	// Encode returns the value's bytes, or ErrWrongType where the object is no plain
	// value.
	Encode() ([]byte, error)
}

// Scanner is an optional ability of a store: it walks through its keys without keeping
// anyone else waiting.
type Scanner interface {
	// Scan calls page with keys of any kind that begin with prefix, which is no pattern,
	// some at a time, until page returns false. A key that exists all the while is among
	// them at least once; one that comes or goes meanwhile may be. page runs in the
	// caller's goroutine, under no lock, and may use the store.
	Scan(ctx context.Context, prefix string, page func(keys []string) bool) error
}

// Leaser is an optional ability of a store: it keeps the records of leases, under keys
// that begin with prefix.
type Leaser interface {
	LeaseBackend(prefix string) leasedriver.Backend
}

// Invalidator is an optional ability of a store on a server: it tells of keys that anyone
// changes, so that a copy of them in the process can be dropped.
type Invalidator interface {
	// Watch begins to tell w of keys under prefix, which is no pattern, and goes on until
	// ctx ends or the store is closed; then the goroutines that it has started have
	// ended, or end soon. It returns once it has begun, which need not mean that it is
	// connected. A connection that breaks is made anew, for as long as it takes.
	Watch(ctx context.Context, prefix string, w Watcher) error
	// Staleness is how long, at most, Watch takes to notice that its connection is dead.
	Staleness() time.Duration
	// GetTTL is Get and TTL in one round trip, so that a copy need not outlive its key:
	// ttl is 0 for ever, and positive even where less than a millisecond is left. Where
	// the key is written in between, ttl may be that of the other value.
	GetTTL(ctx context.Context, key string) (value []byte, ttl time.Duration, ok bool, err error)
	// GetManyTTL is GetTTL for many keys, as Batcher.GetMany is Get: the values and their
	// lives are in the order of keys, and what has no value has no life to speak of.
	GetManyTTL(ctx context.Context, keys []string) (values [][]byte, ttls []time.Duration,
		err error)
}

// Watcher is told of changed keys. Its methods are called one at a time, and do not
// block.
type Watcher interface {
	// Connected says that every change from now on is told.
	Connected()
	// Disconnected says that changes may go untold, also those of the last moments.
	Disconnected()
	// Invalidate names keys that were written, removed or have expired; nil is all keys.
	Invalidate(keys []string)
}

// Defaults is an optional ability of a store: it has a default time to live of its own,
// for managers that are given none.
type Defaults interface {
	DefaultTTL() time.Duration
}

// Provider is an optional ability of a store: it has values that an application finds in
// its context, such as the backend's own client.
type Provider interface {
	Values() map[xctx.ContextKey]any
}
