package cachetest_test

import (
	"context"
	"time"

	leasedriver "github.com/plinthgo/plinth/core/common/xlease/driver"
	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

func (r *remote) Ping(ctx context.Context) error { return r.trip(ctx) }

func (r *remote) Close() error {
	if r.closed.Swap(true) {
		return nil
	}
	for range poolSize {
		if conn := <-r.pool; conn != nil {
			_ = conn.Close()
		}
	}
	return nil
}

func (r *remote) Get(ctx context.Context, key string) (value []byte, ok bool, err error) {
	if err = r.trip(ctx); err == nil {
		return r.broken.Get(ctx, key)
	}
	return
}

func (r *remote) Set(
	ctx context.Context, key string, value []byte, w driver.Write,
) (stored bool, err error) {
	if err = r.trip(ctx); err == nil {
		return r.broken.Set(ctx, key, value, w)
	}
	return
}

func (r *remote) Delete(ctx context.Context, keys ...string) (removed int, err error) {
	if err = r.trip(ctx); err == nil {
		return r.broken.Delete(ctx, keys...)
	}
	return
}

func (r *remote) Exists(ctx context.Context, key string) (ok bool, err error) {
	if err = r.trip(ctx); err == nil {
		return r.broken.Exists(ctx, key)
	}
	return
}

func (r *remote) TTL(ctx context.Context, key string) (ttl time.Duration, ok bool, err error) {
	if err = r.trip(ctx); err == nil {
		return r.broken.TTL(ctx, key)
	}
	return
}

func (r *remote) HashGet(
	ctx context.Context, key, field string,
) (value []byte, ok bool, err error) {
	if err = r.trip(ctx); err == nil {
		return r.broken.HashGet(ctx, key, field)
	}
	return
}

func (r *remote) HashGetAll(ctx context.Context, key string) (fields []driver.Field, err error) {
	if err = r.trip(ctx); err == nil {
		return r.broken.HashGetAll(ctx, key)
	}
	return
}

func (r *remote) HashSet(
	ctx context.Context, key string, set []driver.Field, remove []string, w driver.Write,
) (stored bool, err error) {
	if r.twice {
		_ = r.trip(ctx)
	}
	if err = r.trip(ctx); err == nil {
		return r.broken.HashSet(ctx, key, set, remove, w)
	}
	return
}

func (r *remote) HashExists(ctx context.Context, key, field string) (ok bool, err error) {
	if err = r.trip(ctx); err == nil {
		return r.broken.HashExists(ctx, key, field)
	}
	return
}

func (r *remote) HashRemove(
	ctx context.Context, key string, fields ...string,
) (removed int, err error) {
	if err = r.trip(ctx); err == nil {
		return r.broken.HashRemove(ctx, key, fields...)
	}
	return
}

func (r *remote) SetAdd(
	ctx context.Context, key string, members [][]byte, w driver.Write,
) (added int, stored bool, err error) {
	if err = r.trip(ctx); err == nil {
		return r.broken.SetAdd(ctx, key, members, w)
	}
	return
}

func (r *remote) SetMembers(ctx context.Context, key string) (members [][]byte, err error) {
	if err = r.trip(ctx); err == nil {
		return r.broken.SetMembers(ctx, key)
	}
	return
}

func (r *remote) SetContains(ctx context.Context, key string, member []byte) (ok bool, err error) {
	if err = r.trip(ctx); err == nil {
		return r.broken.SetContains(ctx, key, member)
	}
	return
}

func (r *remote) SetCount(ctx context.Context, key string) (n int, err error) {
	if err = r.trip(ctx); err == nil {
		return r.broken.SetCount(ctx, key)
	}
	return
}

func (r *remote) SetRemove(
	ctx context.Context, key string, members ...[]byte,
) (removed int, err error) {
	if err = r.trip(ctx); err == nil {
		return r.broken.SetRemove(ctx, key, members...)
	}
	return
}

func (r *remote) ListPush(
	ctx context.Context, key string, end driver.End, values [][]byte, w driver.Write,
) (length int, stored bool, err error) {
	if err = r.trip(ctx); err == nil {
		return r.broken.ListPush(ctx, key, end, values, w)
	}
	return
}

func (r *remote) ListRange(
	ctx context.Context, key string, start, stop int,
) (out [][]byte, err error) {
	if err = r.trip(ctx); err == nil {
		return r.broken.ListRange(ctx, key, start, stop)
	}
	return
}

func (r *remote) ListIndex(
	ctx context.Context, key string, index int,
) (value []byte, ok bool, err error) {
	if err = r.trip(ctx); err == nil {
		return r.broken.ListIndex(ctx, key, index)
	}
	return
}

func (r *remote) ListLen(ctx context.Context, key string) (n int, err error) {
	if err = r.trip(ctx); err == nil {
		return r.broken.ListLen(ctx, key)
	}
	return
}

func (r *remote) ListPop(
	ctx context.Context, key string, end driver.End,
) (value []byte, ok bool, err error) {
	if err = r.trip(ctx); err == nil {
		return r.broken.ListPop(ctx, key, end)
	}
	return
}

func (r *remote) ListRemove(
	ctx context.Context, key string, count int, value []byte,
) (removed int, err error) {
	if err = r.trip(ctx); err == nil {
		return r.broken.ListRemove(ctx, key, count, value)
	}
	return
}

func (r *remote) GetMany(ctx context.Context, keys []string) (values [][]byte, err error) {
	for i := range keys {
		if i > 0 && r.loops {
			_ = r.trip(ctx)
		}
	}
	if err = r.trip(ctx); err == nil {
		return r.broken.GetMany(ctx, keys)
	}
	return
}

func (r *remote) SetMany(ctx context.Context, items []driver.Item) (err error) {
	if err = r.trip(ctx); err == nil {
		return r.broken.SetMany(ctx, items)
	}
	return
}

func (r *remote) Scan(ctx context.Context, prefix string, page func([]string) bool) (err error) {
	if err = r.trip(ctx); err == nil {
		return r.broken.Scan(ctx, prefix, page)
	}
	return
}

// LeaseBackend implements driver.Leaser with requests to the server.
func (r *remote) LeaseBackend(prefix string) leasedriver.Backend {
	return remoteLeases{r.broken.LeaseBackend(prefix), r}
}

type remoteLeases struct {
	leasedriver.Backend

	r *remote
}

func (l remoteLeases) Acquire(
	ctx context.Context, q leasedriver.Request,
) (g leasedriver.Grant, err error) {
	if err = l.r.trip(ctx); err == nil {
		return l.Backend.Acquire(ctx, q)
	}
	return
}

func (l remoteLeases) Release(ctx context.Context, h leasedriver.Holding) (held bool, err error) {
	if err = l.r.trip(ctx); err == nil {
		return l.Backend.Release(ctx, h)
	}
	return
}
