// Package xctx names what a context carries, and holds the context of one request.
//
// It is the lowest room of the house: it knows the standard library only, so that logs,
// errors, HTTP and gRPC can all read the same request without knowing one another.
package xctx

import "slices"

// ContextKey is the type of every context key that Plinth reserves.
type ContextKey string

// The reserved keys. An application's nodes use keys of their own.
const (
	// Exec marks a node that only runs: its value is not kept, and it may stand more than
	// once.
	Exec ContextKey = "plinth_exec"
	// RequestKey holds the request id, a string.
	RequestKey ContextKey = "plinth_request_id"
	// UserStartTimeKey holds the start of the request, a time.Time.
	UserStartTimeKey ContextKey = "plinth_start_time"
	// RegNodeKey holds the collection of initialized nodes.
	RegNodeKey ContextKey = "plinth_nodes"
	// DebugKey holds whether the application is in debug mode, a bool.
	DebugKey ContextKey = "plinth_debug"
	// DatabaseKey holds the *gorm.DB.
	DatabaseKey ContextKey = "plinth_database"
	// CacheManagerKey holds the cache manager.
	CacheManagerKey ContextKey = "plinth_cache"
	// RedisClientKey holds the Redis client; only the Redis backend sets it.
	RedisClientKey ContextKey = "plinth_redis"
	// LeasesKey holds the locks and leases.
	LeasesKey ContextKey = "plinth_leases"
	// SnowflakeNodeKey holds the node that generates ids.
	SnowflakeNodeKey ContextKey = "plinth_snowflake"
	// EmailClientKey holds the mail client.
	EmailClientKey ContextKey = "plinth_email"
	// JobQueueKey holds the queue of durable jobs.
	JobQueueKey ContextKey = "plinth_jobs"
	// ErrorCodeKey holds the number of the error that answered the request, an int.
	ErrorCodeKey ContextKey = "plinth_error_code"
	// ErrorMessageKey holds the message of the error that answered the request, a string.
	ErrorMessageKey ContextKey = "plinth_error_message"
)

// String returns the key's name.
func (k ContextKey) String() string { return string(k) }

// IsNil reports whether the key is empty.
func (k ContextKey) IsNil() bool { return k == "" }

// IsExec reports whether the key is Exec.
func (k ContextKey) IsExec() bool { return k == Exec }

// reserved are the keys that only the framework registers.
var reserved = []ContextKey{
	RequestKey, UserStartTimeKey, RegNodeKey, DebugKey, DatabaseKey, CacheManagerKey,
	RedisClientKey, LeasesKey, SnowflakeNodeKey, ErrorCodeKey, ErrorMessageKey,
}

// IsReserved reports whether only the framework may register a node under the key.
//
// EmailClientKey and JobQueueKey are not reserved: the mail client and the queue are
// ordinary nodes that the application lists.
func (k ContextKey) IsReserved() bool { return slices.Contains(reserved, k) }
