// Package xctx defines the context keys that Plinth reserves and the context of a
// request.
//
// It imports the standard library only. Logging, errors, HTTP and gRPC read the same
// request through it without importing each other.
package xctx

import "slices"

// ContextKey is the type of every context key that Plinth reserves.
type ContextKey string

// The reserved keys. An application's nodes use their own keys.
const (
	// Exec marks a node without a value. Several nodes may use it.
	Exec ContextKey = "plinth_exec"
	// RequestKey is the request ID, a string.
	RequestKey ContextKey = "plinth_request_id"
	// UserStartTimeKey is the start time of the request, a time.Time.
	UserStartTimeKey ContextKey = "plinth_start_time"
	// RegNodeKey is the collection of initialized nodes.
	RegNodeKey ContextKey = "plinth_nodes"
	// DebugKey is a bool that reports whether the application is in debug mode.
	DebugKey ContextKey = "plinth_debug"
	// DatabaseKey is the *gorm.DB.
	DatabaseKey ContextKey = "plinth_database"
	// CacheManagerKey is the cache manager.
	CacheManagerKey ContextKey = "plinth_cache"
	// RedisClientKey is the Redis client. Only the Redis backend sets it.
	RedisClientKey ContextKey = "plinth_redis"
	// LeasesKey is the lock and lease manager.
	LeasesKey ContextKey = "plinth_leases"
	// SnowflakeNodeKey is the Snowflake ID generator.
	SnowflakeNodeKey ContextKey = "plinth_snowflake"
	// EmailClientKey is the mail client.
	EmailClientKey ContextKey = "plinth_email"
	// JobQueueKey is the queue of durable jobs.
	JobQueueKey ContextKey = "plinth_jobs"
	// ErrorCodeKey is the code of the error response, an int.
	ErrorCodeKey ContextKey = "plinth_error_code"
	// ErrorMessageKey is the message of the error response, a string.
	ErrorMessageKey ContextKey = "plinth_error_message"
)

// String returns the key's name.
func (k ContextKey) String() string { return string(k) }

// IsNil reports whether the key is empty.
func (k ContextKey) IsNil() bool { return k == "" }

// IsExec reports whether the key is Exec.
func (k ContextKey) IsExec() bool { return k == Exec }

var reserved = []ContextKey{
	RequestKey, UserStartTimeKey, RegNodeKey, DebugKey, DatabaseKey, CacheManagerKey,
	RedisClientKey, LeasesKey, SnowflakeNodeKey, ErrorCodeKey, ErrorMessageKey,
}

// IsReserved reports whether only the framework may register a node under the key.
//
// EmailClientKey and JobQueueKey are not reserved: applications list the mail client and
// the job queue as ordinary nodes.
func (k ContextKey) IsReserved() bool { return slices.Contains(reserved, k) }
