package redis

import (
	"context"
	"math"
	"time"
	"unsafe"

	"github.com/redis/go-redis/v9"

	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// A frequent command shares one allocation with its call and its arguments.
type (
	getCall struct {
		call
		args [2]any
	}
	setCall struct {
		call
		args setArgs
	}
	setArgs [7]any
)

// Get implements driver.Store.
func (s *store) Get(ctx context.Context, key string) (value []byte, ok bool, err error) {
	c := &getCall{args: [2]any{"get", key}}
	cmd := redis.NewStringCmd(ctx, c.args[:]...)
	err = s.send(ctx, &c.call, cmd)
	return s.stringValue(ctx, cmd, err)
}

// Set implements driver.Store.
func (s *store) Set(
	ctx context.Context, key string, value []byte, w driver.Write,
) (stored bool, err error) {
	c := &setCall{}
	args, single := c.args.fill(key, value, w)
	if !single {
		n, err := s.run(ctx, setKeeping, key, value, millis(w.TTL))
		return n > 0, err
	}
	cmd := redis.NewStatusCmd(ctx, args...)
	err = s.send(ctx, &c.call, cmd)
	if missing(err) {
		return false, nil
	}
	return err == nil, s.failed(ctx, err)
}

// fill returns the SET command of a write. single is false if no single command can
// retain the expiry of an existing key and set the expiry of a new one.
func (to *setArgs) fill(key string, value []byte, w driver.Write) (args []any, single bool) {
	args = append(to[:0], "set", key, value)
	keep := w.KeepTTL && w.If != driver.IfAbsent
	switch {
	case keep && (w.TTL == 0 || w.If == driver.IfPresent):
		args = append(args, "keepttl")
	case keep:
		return nil, false
	case w.TTL != 0:
		args = append(args, "px", millis(w.TTL))
	}
	switch w.If {
	case driver.Always:
	case driver.IfAbsent:
		args = append(args, "nx")
	case driver.IfPresent:
		args = append(args, "xx")
	}
	return args, true
}

// millis rounds a TTL up to milliseconds.
func millis(ttl time.Duration) int64 {
	n := ttl.Milliseconds()
	if ttl%time.Millisecond > 0 {
		n++
	}
	return n
}

// Exists implements driver.Store.
func (s *store) Exists(ctx context.Context, key string) (bool, error) {
	n, err := s.count(ctx, "exists", key)
	return n > 0, err
}

// TTL implements driver.Store.
func (s *store) TTL(ctx context.Context, key string) (ttl time.Duration, ok bool, err error) {
	cmd := redis.NewIntCmd(ctx, "pttl", key)
	if err := s.do(ctx, cmd); err != nil {
		return 0, false, s.failed(ctx, err)
	}
	ttl, ok = ttlOf(cmd.Val())
	return ttl, ok, nil
}

// ttlOf converts the reply of PTTL.
func ttlOf(millis int64) (ttl time.Duration, ok bool) {
	const limit = math.MaxInt64 / int64(time.Millisecond)
	switch {
	case millis == -1:
		return 0, true
	case millis < 0:
		return 0, false
	default: // 0 means the last millisecond, not no expiry
		return time.Duration(min(max(millis, 1), limit)) * time.Millisecond, true
	}
}

// bytesOf converts a string to bytes without copying; the result is never nil. This is
// safe because the client allocates each string and callers do not modify the values of a
// store.
func bytesOf(text string) []byte {
	if text == "" {
		return []byte{}
	}
	return unsafe.Slice(unsafe.StringData(text), len(text)) //nolint:gosec // see above
}
