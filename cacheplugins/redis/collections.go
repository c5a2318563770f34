package redis

import (
	"context"

	"github.com/redis/go-redis/v9"

	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// HashGet implements driver.Store.
func (s *store) HashGet(ctx context.Context, key, field string) (value []byte, ok bool, err error) {
	return s.value(ctx, "hget", key, field)
}

// HashGetAll implements driver.Store.
func (s *store) HashGetAll(ctx context.Context, key string) ([]driver.Field, error) {
	cmd := redis.NewMapStringStringCmd(ctx, "hgetall", key)
	if err := s.do(ctx, cmd); err != nil {
		return nil, s.failed(ctx, err)
	}
	fields := make([]driver.Field, 0, len(cmd.Val()))
	for name, value := range cmd.Val() {
		fields = append(fields, driver.Field{Name: name, Value: bytesOf(value)})
	}
	return fields, nil
}

// HashSet implements driver.Store.
func (s *store) HashSet(
	ctx context.Context, key string, set []driver.Field, remove []string, w driver.Write,
) (stored bool, err error) {
	if simple(w) && len(set) > 0 && len(remove) == 0 {
		_, err := s.count(ctx, appendFields([]any{"hset", key}, set)...)
		return err == nil, err
	}
	args := append(updateArgs(w, 1+2*len(set)+len(remove)), len(set))
	args = appendNames(appendFields(args, set), remove)
	n, err := s.run(ctx, hashWrite, key, args...)
	return n > 0, err
}

func appendFields(args []any, fields []driver.Field) []any {
	for _, f := range fields {
		args = append(args, f.Name, f.Value)
	}
	return args
}

func appendNames(args []any, names []string) []any {
	for _, name := range names {
		args = append(args, name)
	}
	return args
}

// HashExists implements driver.Store.
func (s *store) HashExists(ctx context.Context, key, field string) (bool, error) {
	n, err := s.count(ctx, "hexists", key, field)
	return n > 0, err
}

// HashRemove implements driver.Store.
func (s *store) HashRemove(
	ctx context.Context, key string, fields ...string,
) (removed int, err error) {
	if len(fields) == 0 {
		return 0, ctx.Err()
	}
	return s.count(ctx, appendNames([]any{"hdel", key}, fields)...)
}

// SetAdd implements driver.Store.
func (s *store) SetAdd(
	ctx context.Context, key string, members [][]byte, w driver.Write,
) (added int, stored bool, err error) {
	return s.update(ctx, "sadd", setAdd, key, members, w)
}

// SetMembers implements driver.Store.
func (s *store) SetMembers(ctx context.Context, key string) ([][]byte, error) {
	return s.list(ctx, "smembers", key)
}

// SetContains implements driver.Store.
func (s *store) SetContains(ctx context.Context, key string, member []byte) (bool, error) {
	n, err := s.count(ctx, "sismember", key, member)
	return n > 0, err
}

// SetCount implements driver.Store.
func (s *store) SetCount(ctx context.Context, key string) (int, error) {
	return s.count(ctx, "scard", key)
}

// SetRemove implements driver.Store.
func (s *store) SetRemove(
	ctx context.Context, key string, members ...[]byte,
) (removed int, err error) {
	if len(members) == 0 {
		return 0, ctx.Err()
	}
	return s.count(ctx, appendAll([]any{"srem", key}, members)...)
}

// ListPush implements driver.Store.
func (s *store) ListPush(
	ctx context.Context, key string, end driver.End, values [][]byte, w driver.Write,
) (length int, stored bool, err error) {
	if end == driver.Head {
		return s.update(ctx, "lpush", pushHead, key, values, w)
	}
	return s.update(ctx, "rpush", pushTail, key, values, w)
}

// ListRange implements driver.Store.
func (s *store) ListRange(ctx context.Context, key string, start, stop int) ([][]byte, error) {
	return s.list(ctx, "lrange", key, start, stop)
}

// ListIndex implements driver.Store.
func (s *store) ListIndex(
	ctx context.Context, key string, index int,
) (value []byte, ok bool, err error) {
	return s.value(ctx, "lindex", key, index)
}

// ListLen implements driver.Store.
func (s *store) ListLen(ctx context.Context, key string) (int, error) {
	return s.count(ctx, "llen", key)
}

// ListPop implements driver.Store.
func (s *store) ListPop(
	ctx context.Context, key string, end driver.End,
) (value []byte, ok bool, err error) {
	if end == driver.Head {
		return s.value(ctx, "lpop", key)
	}
	return s.value(ctx, "rpop", key)
}

// ListRemove implements driver.Store.
func (s *store) ListRemove(
	ctx context.Context, key string, count int, value []byte,
) (removed int, err error) {
	return s.count(ctx, "lrem", key, count, value)
}

// list sends a command with an array reply.
func (s *store) list(ctx context.Context, args ...any) ([][]byte, error) {
	cmd := redis.NewStringSliceCmd(ctx, args...)
	if err := s.do(ctx, cmd); err != nil {
		return nil, s.failed(ctx, err)
	}
	out := make([][]byte, len(cmd.Val()))
	for i, text := range cmd.Val() {
		out[i] = bytesOf(text)
	}
	return out, nil
}
