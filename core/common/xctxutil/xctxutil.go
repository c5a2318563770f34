// Package xctxutil reads what a context carries.
//
// Every function is safe for concurrent use and takes a nil context for an empty one.
package xctxutil

import (
	"context"
	"fmt"
	"reflect"
	"time"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/defined/xenv"
)

// sources says what stores a value of the framework, by key, and how an application gets
// it.
var sources = map[xctx.ContextKey][2]string{
	xctx.DatabaseKey:     {"database", "give xoption.WithDatabase to Register"},
	xctx.CacheManagerKey: {"cache", "give xoption.WithCache to Register"},
	xctx.RedisClientKey: {
		"Redis client",
		"give xoption.WithCache to Register with NOSQL_DRIVER=redis",
	},
	xctx.LeasesKey: {
		"leases",
		"open a database or a cache that stores leases, or give xoption.WithLeases to Register",
	},
	xctx.SnowflakeNodeKey: {"ID node", "start the application with xreg"},
	xctx.EmailClientKey:   {"mail client", "list email.InitClient as a node"},
	xctx.JobQueueKey:      {"job queue", "list the node of the queue"},
}

// Get returns the value under key.
//
// If the value is missing, or has another type than T, the error is a ConfigError: the
// application is put together wrongly, and its client can neither see nor fix that. The
// cause names what is missing and how to get it, or key and types.
func Get[T any](ctx context.Context, key xctx.ContextKey) (T, *xerror.Error) {
	found := value(ctx, key)
	if v, ok := found.(T); ok {
		return v, nil
	}
	var zero T
	if found == nil {
		return zero, xerror.Wrap(xerror.ConfigError, "", missing(key))
	}
	return zero, xerror.Wrap(xerror.ConfigError, "",
		fmt.Errorf("xctxutil: the value under %q is %T, not %s", key, found, reflect.TypeFor[T]()))
}

// missing is the cause of the error for a value that the context does not have.
func missing(key xctx.ContextKey) error {
	what, fix := fmt.Sprintf("value under %q", key), "list a node with this key"
	if source, ok := sources[key]; ok {
		what, fix = source[0], source[1]
	}
	return fmt.Errorf("xctxutil: the context has no %s: %s, and use the context of the application or of a request", what, fix)
}

// MustGet is Get for values without which nothing works: it panics with the *xerror.Error
// of Get.
func MustGet[T any](ctx context.Context, key xctx.ContextKey) T {
	v, err := Get[T](ctx, key)
	if err != nil {
		panic(err)
	}
	return v
}

// GetRequestKey returns the request id, or "".
func GetRequestKey(ctx context.Context) string { return xctx.RequestID(ctx) }

// GetErrorMessage returns the message of the error that answered the request, or "".
func GetErrorMessage(ctx context.Context) string {
	message, _ := value(ctx, xctx.ErrorMessageKey).(string)
	return message
}

// CalcOverheadTime returns the microseconds since the request began, 0 outside a request.
func CalcOverheadTime(ctx context.Context) int64 {
	var start time.Time
	if r := xctx.RequestFrom(ctx); r != nil {
		start = r.Start()
	} else if start, _ = value(ctx, xctx.UserStartTimeKey).(time.Time); start.IsZero() {
		return 0
	}
	return max(0, time.Since(start).Microseconds())
}

// IsDebugMode reports whether the environment (PLINTH_DEBUG) asks for debug mode.
func IsDebugMode() bool { return xenv.GetEnvBool(xenv.Debug, false) }

// IsDebug reports whether the application that serves the request is in debug mode.
// Outside a request it is the application's that ctx belongs to, and where it belongs to
// none IsDebugMode.
func IsDebug(ctx context.Context) bool {
	if r := xctx.RequestFrom(ctx); r != nil {
		return r.Debug()
	}
	if on, ok := value(ctx, xctx.DebugKey).(bool); ok {
		return on
	}
	return IsDebugMode()
}

// value is ctx.Value that takes a nil context.
func value(ctx context.Context, key xctx.ContextKey) any {
	if ctx == nil {
		return nil
	}
	return ctx.Value(key)
}
