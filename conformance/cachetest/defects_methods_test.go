package cachetest_test

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// methodDefects are defects of methods with unusual input, with other kinds and with many
// keys.
var methodDefects = map[string]defect{
	"batch truncated after 4096 keys": {func(b *broken) {
		b.getMany = func(ctx context.Context, keys []string) ([][]byte, error) {
			out, err := b.MapStore.GetMany(ctx, keys)
			if len(out) > 4096 {
				clear(out[4096:])
			}
			return out, err
		}
	}, "Batch/Sizes"},
	"batch fails for a key of another kind": {func(b *broken) {
		b.getMany = func(ctx context.Context, keys []string) ([][]byte, error) {
			for _, key := range keys {
				if _, _, err := b.Get(ctx, key); err != nil {
					return nil, err
				}
			}
			return b.MapStore.GetMany(ctx, keys)
		}
	}, "Batch/DuplicateMissingAndWrongTypeKeys, Key/Many"},
	"duplicate keys counted twice": {func(b *broken) {
		b.delete = func(ctx context.Context, keys []string) (int, error) {
			n := 0
			for _, key := range keys {
				if ok, _ := b.MapStore.Exists(ctx, key); ok {
					n++
				}
			}
			_, err := b.MapStore.Delete(ctx, keys...)
			return n, err
		}
	}, "Batch/DuplicateMissingAndWrongTypeKeys"},
	"empty value is nil": {func(b *broken) {
		b.getMany = func(ctx context.Context, keys []string) ([][]byte, error) {
			out, err := b.MapStore.GetMany(ctx, keys)
			for i := range out {
				if len(out[i]) == 0 {
					out[i] = nil
				}
			}
			return out, err
		}
	}, "Batch/EmptyValues"},
	"batch ignores keep": {func(b *broken) {
		b.setMany = func(ctx context.Context, items []driver.Item) error {
			for _, i := range items {
				i.Write.KeepTTL = false
				if _, err := b.MapStore.Set(ctx, i.Key, i.Value, i.Write); err != nil {
					return err
				}
			}
			return nil
		}
	}, "Batch/TTL, Batch/TTLPerItem"},
	"batch uses the TTL of its first item": {func(b *broken) {
		b.setMany = func(ctx context.Context, items []driver.Item) error {
			for _, i := range items {
				if _, err := b.MapStore.Set(ctx, i.Key, i.Value, items[0].Write); err != nil {
					return err
				}
			}
			return nil
		}
	}, "Batch/TTLPerItem"},
	"batch is a loop":           {func(b *broken) { b.loops = true }, "Batch/OneRoundTrip"},
	"update in two round trips": {func(b *broken) { b.twice = true }, "Call/OneRoundTrip"},
	"ping ignores its context": {func(b *broken) {
		b.ping = func(ctx context.Context) error {
			return b.MapStore.Ping(context.WithoutCancel(ctx))
		}
	}, "Method/CanceledContext"},
	"ping succeeds after close": {func(b *broken) {
		b.ping = func(ctx context.Context) error { return ctx.Err() }
	}, "Edge/Health, Method/Closed"},
	"closed set is empty": {func(b *broken) {
		b.setCount = func(ctx context.Context, key string) (int, error) {
			n, err := b.MapStore.SetCount(ctx, key)
			if errors.Is(err, driver.ErrClosed) {
				err = nil
			}
			return n, err
		}
	}, "Method/Closed"},
	"wrong type has no members": {func(b *broken) {
		b.setCount = func(ctx context.Context, key string) (int, error) {
			n, err := b.MapStore.SetCount(ctx, key)
			if errors.Is(err, driver.ErrWrongType) {
				err = nil
			}
			return n, err
		}
	}, "Method/WrongType"},
	"members truncated at NUL": {func(b *broken) {
		b.setAdd = func(ctx context.Context, key string, members [][]byte, w driver.Write) (int,
			bool, error,
		) {
			for i := range members {
				members[i], _, _ = bytes.Cut(members[i], []byte{0})
			}
			return b.MapStore.SetAdd(ctx, key, members, w)
		}
	}, "Method/SpecialCharacters"},
	"reading a set creates it": {func(b *broken) {
		b.setMembers = func(ctx context.Context, key string) ([][]byte, error) {
			out, err := b.MapStore.SetMembers(ctx, key)
			if err == nil && len(out) == 0 {
				_, _ = b.MapStore.Set(ctx, key, nil, driver.Write{})
			}
			return out, err
		}
	}, "Method/MissingKey"},
	"empty key rejected": {func(b *broken) {
		b.set = func(ctx context.Context, key string, value []byte, w driver.Write) (bool, error) {
			if key == "" {
				return false, errors.New("no key")
			}
			return b.MapStore.Set(ctx, key, value, w)
		}
	}, "Edge/EmptyKey"},
	"long TTL overflows": {func(b *broken) {
		b.hashSet = func(ctx context.Context, key string, set []driver.Field, remove []string,
			w driver.Write,
		) (bool, error) {
			w.TTL = min(w.TTL, 1<<31*time.Millisecond)
			return b.MapStore.HashSet(ctx, key, set, remove, w)
		}
	}, "Expiry/Years"},
	"short TTL of a set is ignored": {func(b *broken) {
		b.setAdd = func(ctx context.Context, key string, members [][]byte, w driver.Write) (int,
			bool, error,
		) {
			w.TTL = w.TTL.Truncate(time.Second)
			return b.MapStore.SetAdd(ctx, key, members, w)
		}
	}, "Expiry/OneMillisecond"},
	"push with keep rewrites the list": {func(b *broken) {
		b.listPush = func(ctx context.Context, key string, end driver.End, values [][]byte,
			w driver.Write,
		) (int, bool, error) {
			old, err := b.MapStore.ListRange(ctx, key, 0, -1)
			ttl, ok, _ := b.TTL(ctx, key)
			if !ok || !w.KeepTTL || err != nil {
				return b.MapStore.ListPush(ctx, key, end, values, w)
			}
			_, _ = b.MapStore.Delete(ctx, key)
			<-time.After(time.Millisecond)
			_, _ = b.MapStore.Delete(ctx, key)
			return b.MapStore.ListPush(ctx, key, end, append(old, values...),
				driver.Write{TTL: ttl})
		}
	}, "Concurrency/KeepTTLAndSlide"},
	"TTL set after the value": {func(b *broken) {
		b.listPush = func(ctx context.Context, key string, end driver.End, values [][]byte,
			w driver.Write,
		) (int, bool, error) {
			length, stored, err := b.MapStore.ListPush(ctx, key, end, values,
				driver.Write{KeepTTL: w.KeepTTL, If: w.If})
			<-time.After(time.Millisecond)
			if stored && !w.KeepTTL {
				_, _, err = b.MapStore.ListPush(ctx, key, end, nil, driver.Write{TTL: w.TTL})
			}
			return length, stored, err
		}
	}, "Concurrency/TTLOfNewKey"},
	"NX write is lost": {func(b *broken) {
		b.set = func(ctx context.Context, key string, value []byte, w driver.Write) (bool, error) {
			if w.If == driver.IfAbsent {
				ok, err := b.MapStore.Exists(ctx, key)
				return !ok, err
			}
			return b.MapStore.Set(ctx, key, value, w)
		}
	}, "Load/Goexit, Load/Deadline"},
}
