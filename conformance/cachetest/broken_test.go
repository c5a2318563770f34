package cachetest_test

import (
	"context"

	leasedriver "github.com/plinthgo/plinth/core/common/xlease/driver"
	"github.com/plinthgo/plinth/core/major/xcache/driver"
	"github.com/plinthgo/plinth/core/major/xcache/driver/drivertest"
)

// broken is a correct store with replaceable operations.
type broken struct {
	*drivertest.MapStore

	set     func(ctx context.Context, key string, value []byte, w driver.Write) (bool, error)
	delete  func(ctx context.Context, keys []string) (int, error)
	exists  func(ctx context.Context, key string) (bool, error)
	hashGet func(ctx context.Context, key, field string) ([]byte, bool, error)
	hashSet func(
		ctx context.Context, key string, set []driver.Field, remove []string, w driver.Write,
	) (bool, error)
	hashRemove func(ctx context.Context, key string, fields []string) (int, error)
	setAdd     func(
		ctx context.Context, key string, members [][]byte, w driver.Write,
	) (int, bool, error)
	setCount   func(ctx context.Context, key string) (int, error)
	setMembers func(ctx context.Context, key string) ([][]byte, error)
	listPush   func(
		ctx context.Context, key string, end driver.End, values [][]byte, w driver.Write,
	) (int, bool, error)
	listRange  func(ctx context.Context, key string, start, stop int) ([][]byte, error)
	listIndex  func(ctx context.Context, key string, index int) ([]byte, bool, error)
	listPop    func(ctx context.Context, key string, end driver.End) ([]byte, bool, error)
	listRemove func(ctx context.Context, key string, count int, value []byte) (int, error)
	getMany    func(ctx context.Context, keys []string) ([][]byte, error)
	setMany    func(ctx context.Context, items []driver.Item) error
	ping       func(ctx context.Context) error
	scan       func(ctx context.Context, prefix string, page func(keys []string) bool) error
	leases     func(prefix string) leasedriver.Backend
	close      func() error

	// For remote stores: outage replaces the request to the server, loops and twice add
	// round trips.
	outage       func(ctx context.Context, r *remote) error
	loops, twice bool
}

// newBroken returns a store with the defect of the flag, if any.
func newBroken(c driver.Config) *broken {
	b := &broken{MapStore: drivertest.NewMapStore(c.Now)}
	if d, ok := defects[*defectFlag]; ok {
		d.apply(b)
	}
	return b
}

func (b *broken) Set(ctx context.Context, key string, value []byte, w driver.Write) (bool, error) {
	if b.set != nil {
		return b.set(ctx, key, value, w)
	}
	return b.MapStore.Set(ctx, key, value, w)
}

func (b *broken) SetMany(ctx context.Context, items []driver.Item) error {
	if b.setMany != nil {
		return b.setMany(ctx, items)
	}
	for _, i := range items {
		if _, err := b.Set(ctx, i.Key, i.Value, i.Write); err != nil {
			return err
		}
	}
	return nil
}

func (b *broken) Delete(ctx context.Context, keys ...string) (int, error) {
	if b.delete != nil {
		return b.delete(ctx, keys)
	}
	return b.MapStore.Delete(ctx, keys...)
}

func (b *broken) Exists(ctx context.Context, key string) (bool, error) {
	if b.exists != nil {
		return b.exists(ctx, key)
	}
	return b.MapStore.Exists(ctx, key)
}

func (b *broken) HashGet(ctx context.Context, key, field string) ([]byte, bool, error) {
	if b.hashGet != nil {
		return b.hashGet(ctx, key, field)
	}
	return b.MapStore.HashGet(ctx, key, field)
}

func (b *broken) HashSet(
	ctx context.Context, key string, set []driver.Field, remove []string, w driver.Write,
) (bool, error) {
	if b.hashSet != nil {
		return b.hashSet(ctx, key, set, remove, w)
	}
	return b.MapStore.HashSet(ctx, key, set, remove, w)
}

func (b *broken) HashRemove(ctx context.Context, key string, fields ...string) (int, error) {
	if b.hashRemove != nil {
		return b.hashRemove(ctx, key, fields)
	}
	return b.MapStore.HashRemove(ctx, key, fields...)
}

func (b *broken) SetAdd(
	ctx context.Context, key string, members [][]byte, w driver.Write,
) (int, bool, error) {
	if b.setAdd != nil {
		return b.setAdd(ctx, key, members, w)
	}
	return b.MapStore.SetAdd(ctx, key, members, w)
}

func (b *broken) ListPush(
	ctx context.Context, key string, end driver.End, values [][]byte, w driver.Write,
) (int, bool, error) {
	if b.listPush != nil {
		return b.listPush(ctx, key, end, values, w)
	}
	return b.MapStore.ListPush(ctx, key, end, values, w)
}

func (b *broken) ListRange(ctx context.Context, key string, start, stop int) ([][]byte, error) {
	if b.listRange != nil {
		return b.listRange(ctx, key, start, stop)
	}
	return b.MapStore.ListRange(ctx, key, start, stop)
}

func (b *broken) ListIndex(ctx context.Context, key string, index int) ([]byte, bool, error) {
	if b.listIndex != nil {
		return b.listIndex(ctx, key, index)
	}
	return b.MapStore.ListIndex(ctx, key, index)
}

func (b *broken) ListPop(ctx context.Context, key string, end driver.End) ([]byte, bool, error) {
	if b.listPop != nil {
		return b.listPop(ctx, key, end)
	}
	return b.MapStore.ListPop(ctx, key, end)
}

func (b *broken) ListRemove(ctx context.Context, key string, count int, value []byte) (int, error) {
	if b.listRemove != nil {
		return b.listRemove(ctx, key, count, value)
	}
	return b.MapStore.ListRemove(ctx, key, count, value)
}

func (b *broken) GetMany(ctx context.Context, keys []string) ([][]byte, error) {
	if b.getMany != nil {
		return b.getMany(ctx, keys)
	}
	return b.MapStore.GetMany(ctx, keys)
}

func (b *broken) Ping(ctx context.Context) error {
	if b.ping != nil {
		return b.ping(ctx)
	}
	return b.MapStore.Ping(ctx)
}

func (b *broken) SetCount(ctx context.Context, key string) (int, error) {
	if b.setCount != nil {
		return b.setCount(ctx, key)
	}
	return b.MapStore.SetCount(ctx, key)
}

func (b *broken) SetMembers(ctx context.Context, key string) ([][]byte, error) {
	if b.setMembers != nil {
		return b.setMembers(ctx, key)
	}
	return b.MapStore.SetMembers(ctx, key)
}

func (b *broken) Scan(ctx context.Context, prefix string, page func(keys []string) bool) error {
	if b.scan != nil {
		return b.scan(ctx, prefix, page)
	}
	return b.MapStore.Scan(ctx, prefix, page)
}

func (b *broken) LeaseBackend(prefix string) leasedriver.Backend {
	if b.leases != nil {
		return b.leases(prefix)
	}
	return b.MapStore.LeaseBackend(prefix)
}

func (b *broken) Close() error {
	if b.close != nil {
		return b.close()
	}
	return b.MapStore.Close()
}
