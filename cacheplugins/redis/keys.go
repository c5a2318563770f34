package redis

import (
	"context"
	"math"
	"time"
	"unsafe"

	"github.com/redis/go-redis/v9"

	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// The commands that are sent most are one allocation with their words.
type (
	getCall struct {
		call
		words [2]any
	}
	setCall struct {
		call
		words setWords
	}
	setWords [7]any
)

// Get implements driver.Store.
func (s *store) Get(ctx context.Context, key string) (value []byte, ok bool, err error) {
	c := &getCall{words: [2]any{"get", key}}
	cmd := redis.NewStringCmd(ctx, c.words[:]...)
	err = s.send(ctx, &c.call, cmd)
	return s.textOf(ctx, cmd, err)
}

// Set implements driver.Store.
func (s *store) Set(
	ctx context.Context, key string, value []byte, w driver.Write,
) (stored bool, err error) {
	c := &setCall{}
	words, one := c.words.fill(key, value, w)
	if !one {
		n, err := s.run(ctx, setKeeping, key, value, millis(w.TTL))
		return n > 0, err
	}
	cmd := redis.NewStatusCmd(ctx, words...)
	err = s.send(ctx, &c.call, cmd)
	if missing(err) {
		return false, nil
	}
	return err == nil, s.failed(ctx, err)
}

// fill returns the SET for a write. one is false where none can do it: it would have to
// keep the expiry of a key that exists, and give one to a key that does not.
func (to *setWords) fill(key string, value []byte, w driver.Write) (words []any, one bool) {
	words = append(to[:0], "set", key, value)
	keep := w.Keep && w.If != driver.IfAbsent
	switch {
	case keep && (w.TTL == 0 || w.If == driver.IfPresent):
		words = append(words, "keepttl")
	case keep:
		return nil, false
	case w.TTL != 0:
		words = append(words, "px", millis(w.TTL))
	}
	switch w.If {
	case driver.Always:
	case driver.IfAbsent:
		words = append(words, "nx")
	case driver.IfPresent:
		words = append(words, "xx")
	}
	return words, true
}

// millis rounds a time to live up to the server's unit.
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
	ttl, ok = lifeOf(cmd.Val())
	return ttl, ok, nil
}

// lifeOf reads the answer of PTTL.
func lifeOf(millis int64) (ttl time.Duration, ok bool) {
	const most = math.MaxInt64 / int64(time.Millisecond)
	switch {
	case millis == -1:
		return 0, true
	case millis < 0:
		return 0, false
	default: // 0 is the last millisecond, and not for ever
		return time.Duration(min(max(millis, 1), most)) * time.Millisecond, true
	}
}

// bytesOf returns a text's bytes without a copy, and never nil. The client makes each
// text anew, and nobody writes into what a store returns.
func bytesOf(text string) []byte {
	if text == "" {
		return []byte{}
	}
	return unsafe.Slice(unsafe.StringData(text), len(text)) //nolint:gosec // see above
}
