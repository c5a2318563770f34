package redis_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/plinthgo/plinth/cacheplugins/redis"
	"github.com/plinthgo/plinth/core/major/xcache"
	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

type account struct {
	ID   int64
	Name string
}

// comparison contains the typed view and the bare client of the same server.
type comparison struct {
	view *xcache.KeyCache[string, account]
	bare *goredis.Client
}

func newComparison(tb testing.TB) *comparison {
	tb.Helper()
	address, _ := server(tb)
	o, err := goredis.ParseURL(address)
	if err != nil {
		tb.Fatal("the server's URL cannot be parsed")
	}
	o.ContextTimeoutEnabled, o.PoolSize = true, 10
	bare := goredis.NewClient(o)
	tb.Cleanup(func() { _ = bare.Close() })
	store, err := redis.Driver{}.Open(tb.Context(), driver.Config{URL: address})
	if err != nil {
		tb.Fatal(err)
	}
	m, err := xcache.New(store, xcache.WithPrefix("bench:"))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = m.Close() })
	return &comparison{view: xcache.KeyCacheOf[string, account](m), bare: bare}
}

func (s *comparison) calls() map[string]func(ctx context.Context) error {
	value := account{ID: 1, Name: "Ada"}
	key := strings.Clone("bench:k") // converting a constant to any would not allocate
	return map[string]func(ctx context.Context) error{
		"get": func(ctx context.Context) error {
			_, _, err := s.view.Get(ctx, "k")
			return err
		},
		"bare get": func(ctx context.Context) error {
			data, err := s.bare.Get(ctx, key).Bytes()
			if err != nil {
				return err
			}
			v := new(account)
			return json.Unmarshal(data, v)
		},
		"get in a goroutine": func(ctx context.Context) error { return s.inGoroutine(ctx, key) },
		"set": func(ctx context.Context) error {
			return s.view.Set(ctx, "k", &value, xcache.WithTTL(time.Hour))
		},
		"bare set": func(ctx context.Context) error {
			data, err := json.Marshal(&value)
			if err != nil {
				return err
			}
			return s.bare.Set(ctx, key, data, time.Hour).Err()
		},
	}
}

// inGoroutine implements cancellation with a goroutine for each call. The goroutine
// continues after the context has ended.
func (s *comparison) inGoroutine(ctx context.Context, key string) error {
	type result struct {
		data []byte
		err  error
	}
	done := make(chan result, 1)
	go func() {
		data, err := s.bare.Get(context.WithoutCancel(ctx), key).Bytes()
		done <- result{data, err}
	}()
	select {
	case r := <-done:
		if r.err != nil {
			return r.err
		}
		v := new(account)
		return json.Unmarshal(r.data, v)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// A typed call may allocate one string more than the client and the codec: the complete
// key.
func TestTypedCall_Allocations(t *testing.T) {
	calls := newComparison(t).calls()
	for _, name := range []string{"set", "get"} {
		count := func(call func(context.Context) error) float64 {
			return testing.AllocsPerRun(200, func() {
				if err := call(t.Context()); err != nil {
					t.Fatal(err)
				}
			})
		}
		typed, bare := count(calls[name]), count(calls["bare "+name])
		t.Logf("%s: %v allocations, %v with the bare client", name, typed, bare)
		if typed > bare+1 {
			t.Errorf("%s: %v allocations, want at most one more than the %v with the bare client",
				name, typed, bare)
		}
	}
}

func BenchmarkTyped(b *testing.B) {
	calls := newComparison(b).calls()
	for _, name := range []string{"set", "bare set", "get", "bare get", "get in a goroutine"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetParallelism(8)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if err := calls[name](b.Context()); err != nil {
						b.Error(err)
						return
					}
				}
			})
		})
	}
}
