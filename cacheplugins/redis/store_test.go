package redis_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"github.com/plinthgo/plinth/cacheplugins/redis"
	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// fresh opens a store on the shared server with a unique prefix.
func fresh(t *testing.T) (s driver.Store, prefix string) {
	t.Helper()
	address, _ := server(t)
	return open(t, driver.Config{URL: address}), "plinth-test-" + rand.Text() + ":"
}

// brief is the TTL of keys that a test does not delete.
var brief = driver.Write{TTL: time.Minute}

func TestStore_Batch_Size(t *testing.T) {
	s, prefix := fresh(t)
	b := s.(driver.Batcher)
	const n = 2500
	items, keys := make([]driver.Item, n), make([]string, n)
	for i := range n {
		keys[i] = prefix + strconv.Itoa(i)
		items[i] = driver.Item{Key: keys[i], Value: []byte(strconv.Itoa(i)), Write: brief}
	}
	items[7].Value = make([]byte, 6<<20) // larger than the limit of a part
	sent := roundTrips(s, func() {
		if err := b.SetMany(t.Context(), items); err != nil {
			t.Fatal(err)
		}
	})
	if sent != 5 { // 0 to 6; 7; then 1000, 1000 and the rest
		t.Errorf("SetMany needed %d round trips, want 5", sent)
	}
	sent = roundTrips(s, func() {
		got, err := b.GetMany(t.Context(), keys)
		if err != nil || len(got) != n {
			t.Fatalf("GetMany = %d values, %v; want %d", len(got), err, n)
		}
		for i, value := range got {
			if i != 7 && string(value) != strconv.Itoa(i) {
				t.Fatalf("value %d = %q", i, value)
			}
		}
	})
	if sent != 3 {
		t.Errorf("GetMany needed %d round trips, want 3", sent)
	}
	found := map[string]bool{}
	err := s.(driver.Scanner).Scan(t.Context(), prefix, func(page []string) bool {
		for _, key := range page {
			found[key] = true
		}
		return true
	})
	if err != nil || len(found) != n {
		t.Errorf("Scan found %d keys, %v; want %d", len(found), err, n)
	}
	removed, err := s.Delete(t.Context(), slices.Concat(keys, []string{prefix + "none"})...)
	if err != nil || removed != n {
		t.Errorf("Delete = %d, %v; want %d", removed, err, n)
	}
}

func TestStore_GetTTL(t *testing.T) {
	s, prefix := fresh(t)
	r := s.(driver.Invalidator)
	keys := []string{prefix + "ever", prefix + "minute", prefix + "none", prefix + "set"}
	defer func() { _, _ = s.Delete(context.Background(), keys...) }()
	_, err1 := s.Set(t.Context(), keys[0], []byte("e"), driver.Write{})
	_, err2 := s.Set(t.Context(), keys[1], []byte{}, brief)
	_, _, err3 := s.SetAdd(t.Context(), keys[3], [][]byte{{1}}, brief)
	if err := errors.Join(err1, err2, err3); err != nil {
		t.Fatal(err)
	}
	values, ttls, err := r.GetManyTTL(t.Context(), keys)
	if err != nil || string(values[0]) != "e" || values[1] == nil || len(values[1]) > 0 ||
		values[2] != nil || values[3] != nil {
		t.Fatalf("GetManyTTL = %q, %v", values, err)
	}
	if ttls[0] != 0 || ttls[1] <= 50*time.Second || ttls[1] > time.Minute || ttls[2] != 0 {
		t.Errorf("TTLs = %v", ttls)
	}
	value, ttl, ok, err := r.GetTTL(t.Context(), keys[1])
	if err != nil || !ok || value == nil || ttl <= 50*time.Second {
		t.Errorf("GetTTL = %q, %s, %t, %v", value, ttl, ok, err)
	}
	if _, _, ok, err := r.GetTTL(t.Context(), keys[2]); ok || err != nil {
		t.Errorf("GetTTL of a missing key = %t, %v", ok, err)
	}
	if _, _, ok, err := r.GetTTL(t.Context(), keys[3]); ok || !errors.Is(err, driver.ErrWrongType) {
		t.Errorf("GetTTL of a set = %t, %v; want ErrWrongType", ok, err)
	}
}

// scripted returns calls that run a script.
func scripted(s driver.Store, prefix string) map[string]func(ctx context.Context) error {
	keep := driver.Write{TTL: time.Minute, KeepTTL: true}
	return map[string]func(ctx context.Context) error{
		"Set": func(ctx context.Context) error {
			_, err := s.Set(ctx, prefix+"k", nil, keep)
			return err
		},
		"SetMany": func(ctx context.Context) error {
			return s.(driver.Batcher).SetMany(ctx,
				[]driver.Item{{Key: prefix + "m", Write: keep}, {Key: prefix + "n", Write: keep}})
		},
		"HashSet": func(ctx context.Context) error {
			_, err := s.HashSet(ctx, prefix+"h", []driver.Field{{Name: "f"}}, nil, brief)
			return err
		},
		"SetAdd": func(ctx context.Context) error {
			_, _, err := s.SetAdd(ctx, prefix+"s", [][]byte{{1}}, brief)
			return err
		},
		"ListPush": func(ctx context.Context) error {
			_, _, err := s.ListPush(ctx, prefix+"l", driver.Head, [][]byte{{1}}, brief)
			return err
		},
	}
}

func TestStore_ScriptFlush(t *testing.T) {
	s, prefix := fresh(t)
	flush := func() {
		if err := clientOf(s).ScriptFlush(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
	}
	for name, call := range scripted(s, prefix) {
		for range 2 {
			flush()
			if err := call(t.Context()); err != nil {
				t.Errorf("%s after SCRIPT FLUSH: %v", name, err)
			}
		}
	}
	for _, key := range []string{"k", "m", "n", "h", "s", "l"} {
		if ttl, ok, err := s.TTL(t.Context(), prefix+key); err != nil || !ok ||
			ttl <= 50*time.Second {
			t.Errorf("TTL of %s = %s, %t, %v; want a minute", key, ttl, ok, err)
		}
	}
}

// Lua limits the arguments of one call, but the store does not limit its updates.
func TestStore_LargeUpdates(t *testing.T) {
	s, prefix := fresh(t)
	const n = 20_500
	fields, names, values := make([]driver.Field, n), make([]string, n), make([][]byte, n)
	for i := range n {
		values[i], names[i] = []byte(strconv.Itoa(i)), strconv.Itoa(i)
		fields[i] = driver.Field{Name: names[i], Value: values[i]}
	}
	if ok, err := s.HashSet(t.Context(), prefix+"h", fields, []string{"x"},
		driver.Write{TTL: time.Minute, If: driver.IfAbsent}); err != nil || !ok {
		t.Fatalf("HashSet = %t, %v", ok, err)
	}
	all, err := s.HashGetAll(t.Context(), prefix+"h")
	if err != nil || len(all) != n {
		t.Fatalf("HashGetAll = %d fields, %v; want %d", len(all), err, n)
	}
	for _, f := range all {
		if f.Name != string(f.Value) {
			t.Fatalf("field %s = %s", f.Name, f.Value)
		}
	}
	if ok, err := s.HashSet(t.Context(), prefix+"h", nil, names[1:], brief); err != nil || !ok {
		t.Fatalf("HashSet with remove = %t, %v", ok, err)
	}
	if all, err = s.HashGetAll(t.Context(), prefix+"h"); err != nil || len(all) != 1 {
		t.Errorf("HashGetAll = %d fields, %v; want 1", len(all), err)
	}
	if added, _, err := s.SetAdd(t.Context(), prefix+"s",
		slices.Concat(values, values[:1]), brief); err != nil || added != n {
		t.Errorf("SetAdd = %d, %v; want %d", added, err, n)
	}
	for range 2 {
		if _, _, err := s.ListPush(t.Context(), prefix+"l",
			driver.Head, values, brief); err != nil {
			t.Fatal(err)
		}
	}
	length, _, err := s.ListPush(t.Context(), prefix+"l", driver.Tail, values[:1], brief)
	if err != nil || length != 2*n+1 {
		t.Errorf("ListPush = %d, %v; want %d", length, err, 2*n+1)
	}
	for index, want := range map[int]string{
		0: strconv.Itoa(n - 1), n - 1: "0", 2*n - 1: "0", -1: "0",
	} {
		if got, ok, err := s.ListIndex(t.Context(), prefix+"l", index); err != nil || !ok ||
			string(got) != want {
			t.Errorf("element %d = %s, %t, %v; want %s", index, got, ok, err, want)
		}
	}
}

// Conditional writes are atomic: exactly one of many concurrent writes succeeds.
func TestStore_AtomicUpdates(t *testing.T) {
	s, prefix := fresh(t)
	absent := driver.Write{TTL: time.Minute, If: driver.IfAbsent}
	for name, write := range map[string]func(ctx context.Context, key string) (bool, error){
		"Set": func(ctx context.Context, key string) (bool, error) {
			return s.Set(ctx, key, nil, absent)
		},
		"HashSet": func(ctx context.Context, key string) (bool, error) {
			return s.HashSet(ctx, key, []driver.Field{{Name: "a"}, {Name: "b"}}, []string{"c"},
				absent)
		},
		"SetAdd": func(ctx context.Context, key string) (bool, error) {
			_, stored, err := s.SetAdd(ctx, key, [][]byte{{1}}, absent)
			return stored, err
		},
		"ListPush": func(ctx context.Context, key string) (bool, error) {
			_, stored, err := s.ListPush(ctx, key, driver.Tail, [][]byte{{1}}, absent)
			return stored, err
		},
	} {
		for round := range 20 {
			key := fmt.Sprint(prefix, name, round)
			var mu sync.Mutex
			stored := 0
			var all sync.WaitGroup
			for range 8 {
				all.Go(func() {
					ok, err := write(t.Context(), key)
					mu.Lock()
					defer mu.Unlock()
					if err != nil {
						t.Error(name, err)
					}
					if ok {
						stored++
					}
				})
			}
			all.Wait()
			if ttl, _, err := s.TTL(t.Context(), key); stored != 1 || err != nil ||
				ttl <= 50*time.Second {
				t.Fatalf("%s: %d writes took effect, TTL = %s (%v); want 1 and a minute",
					name, stored, ttl, err)
			}
		}
	}
}

func TestStore_Get_RetainedValue(t *testing.T) {
	s, prefix := fresh(t)
	read := func() []byte {
		value, _, err := s.Get(t.Context(), prefix+"k")
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
	if _, err := s.Set(t.Context(), prefix+"k", []byte("first"), brief); err != nil {
		t.Fatal(err)
	}
	first := read()
	if _, err := s.Set(t.Context(), prefix+"k", []byte("other"), brief); err != nil {
		t.Fatal(err)
	}
	if other := read(); string(first) != "first" || string(other) != "other" {
		t.Errorf("values = %q and %q", first, other)
	}
}

func TestGetUniversal(t *testing.T) {
	address, _ := server(t)
	for mode, values := range map[string]map[xctx.ContextKey]any{
		"single": open(t, driver.Config{URL: address}).(driver.Provider).Values(),
		"cluster": {xctx.RedisClientKey: goredis.UniversalClient(
			goredis.NewClusterClient(&goredis.ClusterOptions{Addrs: []string{"h"}}))},
		"": nil,
	} {
		ctx := context.WithValue(t.Context(), xctx.RedisClientKey, values[xctx.RedisClientKey])
		some, someErr := redis.GetUniversal(ctx)
		one, oneErr := redis.GetRDB(ctx)
		if (someErr == nil) != (mode != "") || (some != nil) != (mode != "") {
			t.Errorf("mode %q: GetUniversal = %v, %v", mode, some, someErr)
		}
		if (oneErr == nil) != (mode == "single") || (one != nil) != (mode == "single") {
			t.Errorf("mode %q: GetRDB = %v, %v", mode, one, oneErr)
		}
		if mode == "cluster" && !strings.Contains(oneErr.Error(), "GetUniversal") {
			t.Errorf("GetRDB on a cluster = %v, want an error that names GetUniversal", oneErr)
		}
		if got := panics(func() { redis.MustGetRDB(ctx) }); got != (oneErr != nil) {
			t.Errorf("mode %q: MustGetRDB panics: %t", mode, got)
		}
		if got := panics(func() { redis.MustGetUniversal(ctx) }); got != (someErr != nil) {
			t.Errorf("mode %q: MustGetUniversal panics: %t", mode, got)
		}
	}
}

func panics(f func()) (did bool) {
	defer func() { did = recover() != nil }()
	f()
	return false
}

func TestStore_Close(t *testing.T) {
	address, _ := server(t)
	before := goleak.IgnoreCurrent()
	s, err := redis.Driver{}.Open(t.Context(), driver.Config{URL: address})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.(driver.Invalidator).Watch(t.Context(), "plinth-test:", idle{}); err != nil {
		t.Fatal(err)
	}
	blocked := make(chan error, 1)
	started := make(chan struct{})
	go func() {
		close(started)
		blocked <- clientOf(s).BLPop(t.Context(), 0, "plinth-test-nothing").Err()
	}()
	<-started
	for range 2 {
		if err := s.Close(); err != nil {
			t.Errorf("Close = %v", err)
		}
	}
	if err := <-blocked; err == nil {
		t.Error("the in-flight call returned no error")
	}
	for name, call := range everyCall(s) {
		if err := call(t.Context()); !errors.Is(err, driver.ErrClosed) {
			t.Errorf("%s after Close = %v, want ErrClosed", name, err)
		}
	}
	goleak.VerifyNone(t, before)
}

// idle is a watcher that does nothing.
type idle struct{}

// Connected implements driver.Watcher.
func (idle) Connected() {}

// Disconnected implements driver.Watcher.
func (idle) Disconnected() {}

// Invalidate implements driver.Watcher.
func (idle) Invalidate([]string) {}

func TestLogger(t *testing.T) {
	var lines strings.Builder
	engine, err := xlog.New(xlog.Config{
		Level: slog.LevelDebug, Format: xlog.FormatJSON, Writer: &lines,
	})
	if err != nil {
		t.Fatal(err)
	}
	restore := xlog.SetDefault(engine)
	_, err = redis.Driver{}.Open(t.Context(), driver.Config{Host: "127.0.0.1:1", Pass: "secret-zq"})
	restore()
	if err := engine.Close(); err != nil {
		t.Fatal(err)
	}
	if err == nil || !strings.Contains(lines.String(), "failed to dial") ||
		strings.Contains(lines.String(), "secret-zq") {
		t.Errorf("Open = %v, log = %q; want the connection error without the password",
			err, lines.String())
	}
}
