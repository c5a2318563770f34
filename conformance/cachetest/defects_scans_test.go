package cachetest_test

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/plinthgo/plinth/core/common/xlease"
	leasedriver "github.com/plinthgo/plinth/core/common/xlease/driver"
	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// filterScan makes Scan return only keys that pass keep.
func (b *broken) filterScan(keep func(ctx context.Context, key string) bool) {
	b.scan = func(ctx context.Context, prefix string, page func(keys []string) bool) error {
		return b.MapStore.Scan(ctx, prefix, func(keys []string) bool {
			return page(slices.DeleteFunc(slices.Clone(keys),
				func(key string) bool { return !keep(ctx, key) }))
		})
	}
}

// sortedKeys returns the keys with prefix, sorted.
func (b *broken) sortedKeys(ctx context.Context, prefix string) (all []string) {
	_ = b.MapStore.Scan(ctx, prefix,
		func(keys []string) bool { all = append(all, keys...); return true })
	slices.Sort(all)
	return slices.Compact(all)
}

// scanDefects are defects of scans and leases.
var scanDefects = map[string]defect{
	"scan finds plain values only": {func(b *broken) {
		b.filterScan(func(ctx context.Context, key string) bool {
			_, ok, _ := b.Get(ctx, key)
			return ok
		})
	}, "Scan/Prefix, Clear/Prefix"},
	"prefix is a pattern": {func(b *broken) {
		b.scan = func(ctx context.Context, prefix string, page func(keys []string) bool) error {
			keys := slices.DeleteFunc(b.sortedKeys(ctx, ""), func(key string) bool {
				ok, _ := path.Match(prefix+"*", key)
				return !ok && !strings.HasPrefix(key, prefix)
			})
			page(keys)
			return ctx.Err()
		}
	}, "Scan/PrefixIsLiteral, Clear/Prefix"},
	"scan stops early": {func(b *broken) {
		b.scan = func(ctx context.Context, prefix string, page func(keys []string) bool) error {
			pages := 0
			return b.MapStore.Scan(ctx, prefix, func(keys []string) bool {
				pages++
				return page(keys) && pages < 90
			})
		}
	}, "Scan/TenThousandKeys"},
	"scan uses offsets": {func(b *broken) {
		b.scan = func(ctx context.Context, prefix string, page func(keys []string) bool) error {
			for offset := 0; ; offset += 100 {
				keys := b.sortedKeys(ctx, prefix)
				if offset >= len(keys) {
					return ctx.Err()
				}
				if !page(keys[offset:min(offset+100, len(keys))]) {
					return nil
				}
			}
		}
	}, "Scan/ConcurrentWrites, Scan/NestedCalls"},
	"scan returns expired keys": {func(b *broken) {
		var mu sync.Mutex
		written := map[string]bool{}
		b.set = func(ctx context.Context, key string, value []byte, w driver.Write) (bool, error) {
			mu.Lock()
			defer mu.Unlock()
			written[key] = true
			return b.MapStore.Set(ctx, key, value, w)
		}
		b.scan = func(ctx context.Context, prefix string, page func(keys []string) bool) error {
			var keys []string
			mu.Lock()
			for key := range written {
				if strings.HasPrefix(key, prefix) {
					keys = append(keys, key)
				}
			}
			mu.Unlock()
			page(keys)
			return ctx.Err()
		}
	}, "Scan/ExpiredKeys"},
	"scan does not stop": {func(b *broken) {
		b.scan = func(ctx context.Context, prefix string, page func(keys []string) bool) error {
			return b.MapStore.Scan(ctx, prefix,
				func(keys []string) bool { page(keys); return true })
		}
	}, "Scan/Stop"},
	"scan ignores its context": {func(b *broken) {
		b.scan = func(ctx context.Context, prefix string, page func(keys []string) bool) error {
			return b.MapStore.Scan(context.WithoutCancel(ctx), prefix, page)
		}
	}, "Scan/CanceledContext"},
	"scan normalizes keys": {func(b *broken) {
		b.scan = func(ctx context.Context, prefix string, page func(keys []string) bool) error {
			return b.MapStore.Scan(ctx, prefix, func(keys []string) bool {
				keys = slices.Clone(keys)
				for i := range keys {
					keys[i] = strings.ToValidUTF8(keys[i], "?")
				}
				return page(keys)
			})
		}
	}, "Scan/KeyTypes"},
	"scan locks the store": {func(b *broken) {
		scanning := false
		b.scan = func(ctx context.Context, prefix string, page func(keys []string) bool) error {
			scanning = true
			defer func() { scanning = false }()
			return b.MapStore.Scan(ctx, prefix, page)
		}
		b.delete = func(ctx context.Context, keys []string) (int, error) {
			if scanning {
				return 0, errors.New("locked")
			}
			return b.MapStore.Delete(ctx, keys...)
		}
	}, "Scan/NestedCalls, Clear/ManyKeys"},
	"scan hides keys with a suffix": {func(b *broken) {
		b.filterScan(func(_ context.Context, key string) bool {
			return !strings.HasSuffix(key, "absent")
		})
	}, "Clear/AbsenceMarksAndLeases"},
	"only some of many keys are deleted": {func(b *broken) {
		b.delete = func(ctx context.Context, keys []string) (int, error) {
			return b.MapStore.Delete(ctx, keys[:min(len(keys), 50)]...)
		}
	}, "Clear/ManyKeys, Batch/Sizes"},
	"leases are not shared": {func(b *broken) {
		b.leases = func(string) leasedriver.Backend { return xlease.InProcess(nil) }
	}, "Lease/ExclusiveUntilClose"},
	"leases have no prefix": {func(b *broken) {
		b.leases = func(string) leasedriver.Backend { return b.MapStore.LeaseBackend("") }
	}, "Lease/Prefix"},
}
