// Package xctxutil reads values from contexts.
//
// All functions are safe for concurrent use and treat a nil context as empty.
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

// sources contains the name of each framework value and how an application provides it.
var sources = map[xctx.ContextKey][2]string{
	xctx.DatabaseKey:     {"database", "pass xoption.WithDatabase to xreg.Register"},
	xctx.CacheManagerKey: {"cache", "pass xoption.WithCache to xreg.Register"},
	xctx.RedisClientKey: {
		"Redis client",
		"pass xoption.WithCache to xreg.Register with NOSQL_DRIVER=redis",
	},
	xctx.LeasesKey: {
		"leases",
		"open a database or a cache that stores leases, or pass xoption.WithLeases to xreg.Register",
	},
	xctx.SnowflakeNodeKey: {"Snowflake node", "start the application with xreg"},
	xctx.EmailClientKey:   {"mail client", "list email.InitClient as a node"},
	xctx.JobQueueKey:      {"job queue", "list the node of the job queue"},
}

// Get returns the value of key.
//
// If the value is missing or is not a T, the error is a ConfigError, because the
// application is misconfigured and the client cannot fix it. The cause names the missing
// value and the fix, or the key and both types.
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

// missing returns the cause of the error if key has no value.
func missing(key xctx.ContextKey) error {
	name, fix := fmt.Sprintf("value under %q", key), "list a node with this key"
	if source, ok := sources[key]; ok {
		name, fix = source[0], source[1]
	}
	return fmt.Errorf(
		"xctxutil: the context has no %s: %s, and use an application or request context",
		name, fix)
}

// MustGet is like Get but panics with the *xerror.Error.
func MustGet[T any](ctx context.Context, key xctx.ContextKey) T {
	v, err := Get[T](ctx, key)
	if err != nil {
		panic(err)
	}
	return v
}

// GetRequestKey returns the request ID, or "".
func GetRequestKey(ctx context.Context) string { return xctx.RequestID(ctx) }

// GetErrorMessage returns the message of the error response, or "".
func GetErrorMessage(ctx context.Context) string {
	message, _ := value(ctx, xctx.ErrorMessageKey).(string)
	return message
}

// CalcOverheadTime returns the microseconds since the start of the request, or 0 outside
// a request.
func CalcOverheadTime(ctx context.Context) int64 {
	var start time.Time
	if r := xctx.RequestFrom(ctx); r != nil {
		start = r.Start()
	} else if start, _ = value(ctx, xctx.UserStartTimeKey).(time.Time); start.IsZero() {
		return 0
	}
	return max(0, time.Since(start).Microseconds())
}

// IsDebugMode reports whether PLINTH_DEBUG enables debug mode.
func IsDebugMode() bool { return xenv.GetEnvBool(xenv.Debug, false) }

// IsDebug reports whether the application is in debug mode. It reads the setting from the
// request in ctx, or else from the application's context. If ctx has neither, it returns
// IsDebugMode().
func IsDebug(ctx context.Context) bool {
	if r := xctx.RequestFrom(ctx); r != nil {
		return r.Debug()
	}
	if on, ok := value(ctx, xctx.DebugKey).(bool); ok {
		return on
	}
	return IsDebugMode()
}

// value is like ctx.Value but accepts a nil context.
func value(ctx context.Context, key xctx.ContextKey) any {
	if ctx == nil {
		return nil
	}
	return ctx.Value(key)
}
