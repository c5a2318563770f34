package cachetest_test

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// defects contains typical faults of cache backends by name.
var defects = func() map[string]defect {
	all := map[string]defect{}
	for _, group := range []map[string]defect{
		storeDefects, methodDefects, updateDefects, scanDefects, outageDefects,
	} {
		maps.Copy(all, group)
	}
	return all
}()

// defect is a fault of a store. detectedBy names the checks that must detect it,
// separated by commas.
type defect struct {
	apply      func(b *broken)
	detectedBy string
}

// remote reports whether the defect needs a store on a server.
func (d defect) remote() bool {
	return strings.Contains(d.detectedBy, "Outage/") ||
		strings.Contains(d.detectedBy, "OneRoundTrip")
}

// storeDefects are defects of single operations.
var storeDefects = map[string]defect{
	"NX is ignored": {func(b *broken) {
		b.set = func(ctx context.Context, key string, value []byte, w driver.Write) (bool, error) {
			w.If = driver.Always
			return b.MapStore.Set(ctx, key, value, w)
		}
	}, "Key/NX"},
	"NX is lost with keep": {func(b *broken) {
		b.set = func(ctx context.Context, key string, value []byte, w driver.Write) (bool, error) {
			if w.KeepTTL && w.TTL > 0 {
				w.If = driver.Always
			}
			return b.MapStore.Set(ctx, key, value, w)
		}
	}, "Key/NX"},
	"only the first 1000 members are written": {func(b *broken) {
		b.setAdd = func(ctx context.Context, key string, members [][]byte, w driver.Write) (int,
			bool, error,
		) {
			return b.MapStore.SetAdd(ctx, key, members[:min(len(members), 1000)], w)
		}
	}, "Edge/LargeUpdates"},
	"length of a list is limited to 1000": {func(b *broken) {
		b.listPush = func(ctx context.Context, key string, end driver.End, values [][]byte,
			w driver.Write,
		) (int, bool, error) {
			n, stored, err := b.MapStore.ListPush(ctx, key, end, values, w)
			return min(n, 1000), stored, err
		}
	}, "Edge/LargeUpdates"},
	"only the first 1000 fields are written": {func(b *broken) {
		b.hashSet = func(ctx context.Context, key string, set []driver.Field, remove []string,
			w driver.Write,
		) (bool, error) {
			return b.MapStore.HashSet(ctx, key, set[:min(len(set), 1000)], remove, w)
		}
	}, "Edge/LargeUpdates"},
	"outcome of XX is not reported": {func(b *broken) {
		b.set = func(ctx context.Context, key string, value []byte, w driver.Write) (bool, error) {
			_, err := b.MapStore.Set(ctx, key, value, w)
			return true, err
		}
	}, "Key/XX"},
	"NX is not atomic": {func(b *broken) {
		b.set = func(ctx context.Context, key string, value []byte, w driver.Write) (bool, error) {
			if w.If == driver.IfAbsent {
				if ok, err := b.MapStore.Exists(ctx, key); ok || err != nil {
					return false, err
				}
				for range 10 {
					runtime.Gosched()
				}
				w.If = driver.Always
			}
			return b.MapStore.Set(ctx, key, value, w)
		}
	}, "Concurrency/NX"},
	"zero TTL expires": {func(b *broken) {
		b.set = func(ctx context.Context, key string, value []byte, w driver.Write) (bool, error) {
			if w.TTL == 0 && !w.KeepTTL {
				w.TTL = time.Minute
			}
			return b.MapStore.Set(ctx, key, value, w)
		}
	}, "Expiry/ZeroTTL"},
	"TTL rounded to seconds": {func(b *broken) {
		b.set = func(ctx context.Context, key string, value []byte, w driver.Write) (bool, error) {
			w.TTL = w.TTL.Truncate(time.Second)
			return b.MapStore.Set(ctx, key, value, w)
		}
	}, "Expiry/OneMillisecond"},
	"keep is ignored": {func(b *broken) {
		b.set = func(ctx context.Context, key string, value []byte, w driver.Write) (bool, error) {
			w.KeepTTL = false
			return b.MapStore.Set(ctx, key, value, w)
		}
	}, "Expiry/KeepTTL"},
	"large values rejected": {func(b *broken) {
		b.set = func(ctx context.Context, key string, value []byte, w driver.Write) (bool, error) {
			if len(value) > 1<<19 {
				return false, errors.New("too large")
			}
			return b.MapStore.Set(ctx, key, value, w)
		}
	}, "Edge/LargeValues"},
	"keys truncated at newline": {func(b *broken) {
		b.set = func(ctx context.Context, key string, value []byte, w driver.Write) (bool, error) {
			key, _, _ = strings.Cut(key, "\n")
			return b.MapStore.Set(ctx, key, value, w)
		}
	}, "Edge/SpecialCharactersInKeys"},
	"deleted key is a pattern": {func(b *broken) {
		b.delete = func(ctx context.Context, keys []string) (int, error) {
			if prefix, ok := strings.CutSuffix(keys[0], "*"); ok {
				return b.MapStore.Delete(ctx, prefix+"*", prefix+"?", prefix+"a b", prefix+"a:b")
			}
			return b.MapStore.Delete(ctx, keys...)
		}
	}, "Edge/SpecialCharactersInKeys"},
	"only the first of several keys is deleted": {func(b *broken) {
		b.delete = func(ctx context.Context, keys []string) (int, error) {
			return b.MapStore.Delete(ctx, keys[0])
		}
	}, "Key/Many"},
	"values of a batch in wrong order": {func(b *broken) {
		b.getMany = func(ctx context.Context, keys []string) ([][]byte, error) {
			out, err := b.MapStore.GetMany(ctx, keys)
			slices.Reverse(out)
			return out, err
		}
	}, "Key/Many"},
	"writing one field removes the others": {func(b *broken) {
		b.hashSet = func(ctx context.Context, key string, set []driver.Field, remove []string,
			w driver.Write,
		) (bool, error) {
			if _, err := b.HashGetAll(ctx, key); err != nil {
				return false, err
			}
			_, _ = b.MapStore.Delete(ctx, key)
			return b.MapStore.HashSet(ctx, key, set, remove, w)
		}
	}, "Hash/SetAllGetAll"},
	"fields have a prefix": {func(b *broken) {
		b.hashSet = func(ctx context.Context, key string, set []driver.Field, remove []string,
			w driver.Write,
		) (bool, error) {
			for i := range set {
				set[i].Name = "p:" + set[i].Name
			}
			return b.MapStore.HashSet(ctx, key, set, remove, w)
		}
	}, "Edge/Prefix"},
	"nil fields are kept": {func(b *broken) {
		b.hashSet = func(ctx context.Context, key string, set []driver.Field, _ []string,
			w driver.Write,
		) (bool, error) {
			return b.MapStore.HashSet(ctx, key, set, nil, w)
		}
	}, "Hash/Struct"},
	"hash never slides": {func(b *broken) {
		b.hashSet = func(ctx context.Context, key string, set []driver.Field, remove []string,
			w driver.Write,
		) (bool, error) {
			w.KeepTTL = true
			return b.MapStore.HashSet(ctx, key, set, remove, w)
		}
	}, "Expiry/UpdatesSlide"},
	"hash always slides": {func(b *broken) {
		b.hashSet = func(ctx context.Context, key string, set []driver.Field, remove []string,
			w driver.Write,
		) (bool, error) {
			w.KeepTTL = false
			return b.MapStore.HashSet(ctx, key, set, remove, w)
		}
	}, "Expiry/NoSlide"},
	"update is not atomic": {func(b *broken) {
		b.hashSet = func(ctx context.Context, key string, set []driver.Field, remove []string,
			w driver.Write,
		) (bool, error) {
			all, err := b.HashGetAll(ctx, key)
			if err != nil || w.If != driver.Always {
				return b.MapStore.HashSet(ctx, key, set, remove, w)
			}
			runtime.Gosched()
			_, _ = b.MapStore.Delete(ctx, key)
			return b.MapStore.HashSet(ctx, key, append(all, set...), remove, w)
		}
	}, "Concurrency/Updates"},
	"wrong type looks like a miss": {func(b *broken) {
		b.hashGet = func(ctx context.Context, key, field string) ([]byte, bool, error) {
			v, ok, err := b.MapStore.HashGet(ctx, key, field)
			if errors.Is(err, driver.ErrWrongType) {
				err = nil
			}
			return v, ok, err
		}
	}, "Hash/WrongType"},
	"removing a field resets the TTL": {func(b *broken) {
		b.hashRemove = func(ctx context.Context, key string, fields []string) (int, error) {
			n, err := b.MapStore.HashRemove(ctx, key, fields...)
			if all, _ := b.HashGetAll(ctx, key); len(all) > 0 {
				_, _ = b.MapStore.HashSet(ctx, key, all, nil, driver.Write{})
			}
			return n, err
		}
	}, "Expiry/RemoveKeepsTTL"},
	"existing members counted as added": {func(b *broken) {
		b.setAdd = func(ctx context.Context, key string, members [][]byte, w driver.Write) (int,
			bool, error,
		) {
			_, stored, err := b.MapStore.SetAdd(ctx, key, members, w)
			return len(members), stored, err
		}
	}, "Set/AddAndMembers"},
	"values prepended in reverse order": {func(b *broken) {
		b.listPush = func(ctx context.Context, key string, end driver.End, values [][]byte,
			w driver.Write,
		) (int, bool, error) {
			if end == driver.Head {
				slices.Reverse(values)
			}
			return b.MapStore.ListPush(ctx, key, end, values, w)
		}
	}, "List/PrependAndAppend"},
	"range past the end is an error": {func(b *broken) {
		b.listRange = func(ctx context.Context, key string, start, stop int) ([][]byte, error) {
			if n, _ := b.ListLen(ctx, key); stop > n {
				return nil, errors.New("out of range")
			}
			return b.MapStore.ListRange(ctx, key, start, stop)
		}
	}, "List/Range"},
	"negative index not supported": {func(b *broken) {
		b.listIndex = func(ctx context.Context, key string, index int) ([]byte, bool, error) {
			if index < 0 {
				return nil, false, nil
			}
			return b.MapStore.ListIndex(ctx, key, index)
		}
	}, "List/Index"},
	"Pop resets the TTL": {func(b *broken) {
		b.listPop = func(ctx context.Context, key string, end driver.End) ([]byte, bool, error) {
			v, ok, err := b.MapStore.ListPop(ctx, key, end)
			if rest, _ := b.MapStore.ListRange(ctx, key, 0, -1); len(rest) > 0 {
				_, _ = b.MapStore.Delete(ctx, key)
				_, _, _ = b.MapStore.ListPush(ctx, key, driver.Tail, rest,
					driver.Write{TTL: time.Hour})
			}
			return v, ok, err
		}
	}, "Expiry/RemoveKeepsTTL"},
	"element popped twice": {func(b *broken) {
		b.listPop = func(ctx context.Context, key string, end driver.End) ([]byte, bool, error) {
			v, ok, err := b.MapStore.ListIndex(ctx, key, -int(end))
			runtime.Gosched()
			_, _, _ = b.MapStore.ListPop(ctx, key, end)
			return v, ok, err
		}
	}, "Concurrency/Pop"},
	"removing from the tail removes from the head": {func(b *broken) {
		b.listRemove = func(ctx context.Context, key string, count int, value []byte) (int, error) {
			return b.MapStore.ListRemove(ctx, key, max(count, -count), value)
		}
	}, "List/Remove"},
	"emptied list exists": {func(b *broken) {
		emptied := map[string]bool{}
		b.listPop = func(ctx context.Context, key string, end driver.End) ([]byte, bool, error) {
			v, ok, err := b.MapStore.ListPop(ctx, key, end)
			if n, _ := b.ListLen(ctx, key); n == 0 && ok {
				_, _, _ = b.MapStore.SetAdd(ctx, key, [][]byte{{}}, driver.Write{})
				emptied[key] = true
			}
			return v, ok, err
		}
	}, "List/Pop"},
	"values are compared by length": {func(b *broken) {
		b.listRemove = func(ctx context.Context, key string, count int, value []byte) (int, error) {
			return b.MapStore.ListRemove(ctx, key, count, bytes.Repeat([]byte("a"), len(value)))
		}
	}, "List/Remove"},
	"absence mark never expires": {func(b *broken) {
		b.set = func(ctx context.Context, key string, value []byte, w driver.Write) (bool, error) {
			if len(value) == 0 {
				w.TTL = 0
			}
			return b.MapStore.Set(ctx, key, value, w)
		}
	}, "Load/NegativeTTL"},
	"Close closes nothing": {func(b *broken) {
		b.close = func() error { return nil }
	}, "Method/Closed, Edge/Health"},
}
