package cachetest_test

import (
	"context"

	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// updateDefects are defects of writes with several options.
var updateDefects = map[string]defect{
	"NX is ignored with keep": {func(b *broken) {
		b.set = func(ctx context.Context, key string, value []byte, w driver.Write) (bool, error) {
			return b.MapStore.Set(ctx, key, value, without(w, driver.IfAbsent))
		}
	}, "Condition/NXWithKeepTTL"},
	"NX of fields is ignored with keep": {func(b *broken) {
		b.hashSet = func(ctx context.Context, key string, set []driver.Field, remove []string,
			w driver.Write,
		) (bool, error) {
			return b.MapStore.HashSet(ctx, key, set, remove, without(w, driver.IfAbsent))
		}
	}, "Condition/NXWithKeepTTL, Condition/FieldsWithKeepTTL"},
	"NX of members is ignored with keep": {func(b *broken) {
		b.setAdd = func(ctx context.Context, key string, members [][]byte, w driver.Write) (int,
			bool, error,
		) {
			return b.MapStore.SetAdd(ctx, key, members, without(w, driver.IfAbsent))
		}
	}, "Condition/NXWithKeepTTL"},
	"NX of elements is ignored with keep": {func(b *broken) {
		b.listPush = func(ctx context.Context, key string, end driver.End, values [][]byte,
			w driver.Write,
		) (int, bool, error) {
			return b.MapStore.ListPush(ctx, key, end, values, without(w, driver.IfAbsent))
		}
	}, "Condition/NXWithKeepTTL"},
	"XX is ignored with keep": {func(b *broken) {
		b.set = func(ctx context.Context, key string, value []byte, w driver.Write) (bool, error) {
			return b.MapStore.Set(ctx, key, value, without(w, driver.IfPresent))
		}
	}, "Condition/XXWithKeepTTL"},
	"new field resets the TTL": {func(b *broken) {
		b.hashSet = func(ctx context.Context, key string, set []driver.Field, remove []string,
			w driver.Write,
		) (bool, error) {
			w.KeepTTL = w.KeepTTL && w.If != driver.IfAbsent
			return b.MapStore.HashSet(ctx, key, set, remove, w)
		}
	}, "Condition/FieldsWithKeepTTL"},
}

// without removes condition c from a write with KeepTTL.
func without(w driver.Write, c driver.Condition) driver.Write {
	if w.KeepTTL && w.If == c {
		w.If = driver.Always
	}
	return w
}
