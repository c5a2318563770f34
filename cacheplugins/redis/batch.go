package redis

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// Batches are split into round trips of at most this size, so that the server can serve
// other clients in between and does not buffer large replies.
const (
	batchKeys  = 1000
	batchBytes = 4 << 20 // of values in SetMany; a single larger value is allowed
)

// pipeline sends commands in one round trip, or in one for each server of a cluster. Each
// command has its own result. If the client fails and no command has an error, pipeline
// sets the error of all commands.
func (s *store) pipeline(ctx context.Context, cmds ...redis.Cmder) {
	pipe := s.client.Pipeline()
	_ = pipe.BatchProcess(ctx, cmds...) // only queues the commands
	err := s.within(ctx, func(ctx context.Context) error {
		_, err := pipe.Exec(ctx)
		return err
	})
	failed := func(cmd redis.Cmder) bool { return cmd.Err() != nil }
	if err != nil && !slices.ContainsFunc(cmds, failed) {
		for _, cmd := range cmds {
			cmd.SetErr(err)
		}
	}
}

// Delete implements driver.Store. The server frees the memory in the background.
func (s *store) Delete(ctx context.Context, keys ...string) (removed int, err error) {
	for part := range slices.Chunk(keys, batchKeys) {
		n, err := s.unlink(ctx, part)
		removed += n
		if err != nil {
			return removed, err
		}
	}
	return removed, nil
}

func (s *store) unlink(ctx context.Context, keys []string) (removed int, err error) {
	if !s.options.IsClusterMode || len(keys) == 1 {
		return s.count(ctx, appendNames(append(make([]any, 0, 1+len(keys)), "unlink"), keys)...)
	}
	cmds := make([]redis.Cmder, len(keys))
	for i, key := range keys {
		cmds[i] = redis.NewIntCmd(ctx, "unlink", key)
	}
	s.pipeline(ctx, cmds...)
	for _, cmd := range cmds {
		if err := cmd.Err(); err != nil {
			return removed, s.failed(ctx, err)
		}
		removed += int(cmd.(*redis.IntCmd).Val()) //nolint:forcetypeassert // made above
	}
	return removed, nil
}

// GetMany implements driver.Batcher.
func (s *store) GetMany(ctx context.Context, keys []string) ([][]byte, error) {
	if s.options.IsClusterMode { // the keys may be on several servers
		values, _, err := s.getEach(ctx, keys, false)
		return values, err
	}
	values := make([][]byte, 0, len(keys))
	for part := range slices.Chunk(keys, batchKeys) {
		cmd := redis.NewSliceCmd(ctx,
			appendNames(append(make([]any, 0, 1+len(part)), "mget"), part)...)
		if err := s.do(ctx, cmd); err != nil {
			return nil, s.failed(ctx, err)
		}
		for _, v := range cmd.Val() {
			var value []byte // nil if it is not a plain value
			if text, ok := v.(string); ok {
				value = bytesOf(text)
			}
			values = append(values, value)
		}
	}
	return values, ctx.Err()
}

// GetManyTTL implements driver.Invalidator.
func (s *store) GetManyTTL(
	ctx context.Context, keys []string,
) (values [][]byte, ttls []time.Duration, err error) {
	return s.getEach(ctx, keys, true)
}

// GetTTL implements driver.Invalidator.
func (s *store) GetTTL(
	ctx context.Context, key string,
) (value []byte, ttl time.Duration, ok bool, err error) {
	get, pttl := redis.NewStringCmd(ctx, "get", key), redis.NewIntCmd(ctx, "pttl", key)
	s.pipeline(ctx, get, pttl)
	value, ok, err = s.stringValue(ctx, get, get.Err())
	if err != nil || !ok {
		return nil, 0, false, err
	}
	if ttl, err = s.remaining(ctx, pttl); err != nil {
		return nil, 0, false, err
	}
	return value, ttl, true, nil
}

// remaining returns the TTL of a key that had a value in the same pipeline.
func (s *store) remaining(ctx context.Context, cmd *redis.IntCmd) (time.Duration, error) {
	if err := cmd.Err(); err != nil {
		return 0, s.failed(ctx, err)
	}
	ttl, ok := ttlOf(cmd.Val())
	if !ok {
		ttl = 1 // expired in the meantime
	}
	return ttl, nil
}

// getEach reads each key, and its TTL if withTTL is set, with separate commands.
func (s *store) getEach(
	ctx context.Context, keys []string, withTTL bool,
) ([][]byte, []time.Duration, error) {
	values, ttls := make([][]byte, 0, len(keys)), make([]time.Duration, 0, len(keys))
	for part := range slices.Chunk(keys, batchKeys) {
		gets, pttls := make([]*redis.StringCmd, len(part)), make([]*redis.IntCmd, len(part))
		cmds := make([]redis.Cmder, 0, 2*len(part))
		for i, key := range part {
			gets[i] = redis.NewStringCmd(ctx, "get", key)
			pttls[i] = redis.NewIntCmd(ctx, "pttl", key)
			cmds = append(cmds, gets[i])
			if withTTL {
				cmds = append(cmds, pttls[i])
			}
		}
		s.pipeline(ctx, cmds...)
		for i, get := range gets {
			value, ok, err := s.stringValue(ctx, get, get.Err())
			if err != nil && !errors.Is(err, driver.ErrWrongType) {
				return nil, nil, err
			}
			var ttl time.Duration
			if ok && withTTL {
				if ttl, err = s.remaining(ctx, pttls[i]); err != nil {
					return nil, nil, err
				}
			}
			values, ttls = append(values, value), append(ttls, ttl)
		}
	}
	return values, ttls, ctx.Err()
}

// SetMany implements driver.Batcher.
func (s *store) SetMany(ctx context.Context, items []driver.Item) error {
	for len(items) > 0 {
		n, size := 0, 0
		for n < len(items) && n < batchKeys && (n == 0 || size+len(items[n].Value) <= batchBytes) {
			size += len(items[n].Value)
			n++
		}
		if err := s.write(ctx, items[:n]); err != nil {
			return err
		}
		items = items[n:]
	}
	return ctx.Err()
}

// write sends the items in one round trip, plus one for each script that the server has
// not cached.
func (s *store) write(ctx context.Context, items []driver.Item) error {
	cmds := make([]redis.Cmder, len(items))
	for i, item := range items {
		item.Write.If = driver.Always
		args, single := new(setArgs).fill(item.Key, item.Value, item.Write)
		if single {
			cmds[i] = redis.NewStatusCmd(ctx, args...)
		} else {
			cmds[i] = redis.NewCmd(ctx, "evalsha",
				setKeeping.Hash(), 1, item.Key, item.Value, millis(item.Write.TTL))
		}
	}
	s.pipeline(ctx, cmds...)
	for i, cmd := range cmds {
		err := cmd.Err()
		if redis.HasErrorPrefix(err, "NOSCRIPT") {
			_, err = s.Set(ctx, items[i].Key, items[i].Value, items[i].Write)
		}
		if err != nil {
			return s.failed(ctx, err)
		}
	}
	return nil
}
