package redis

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/plinthgo/plinth/conformance/cachetest"
	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// recorder is a watcher that records its calls.
type recorder struct {
	serial int           // without a lock, so that the race detector reports concurrent calls
	block  chan struct{} // if not nil, Invalidate waits for it

	mu        sync.Mutex
	connected bool
	connects  int // number of calls of Connected
	keys      map[string]int
	changed   chan struct{} // signals a call
}

func (r *recorder) record(do func()) {
	r.serial++
	r.mu.Lock()
	do()
	r.mu.Unlock()
	select {
	case r.changed <- struct{}{}:
	default:
	}
}

func (r *recorder) Connected() { r.record(func() { r.connected = true; r.connects++ }) }

func (r *recorder) Disconnected() { r.record(func() { r.connected = false }) }

func (r *recorder) Invalidate(keys []string) {
	if r.block != nil {
		<-r.block
	}
	r.record(func() {
		for _, key := range keys {
			r.keys[key]++
		}
	})
}

// wait waits for a condition on the record and returns the elapsed time.
func (r *recorder) wait(
	tb testing.TB, within time.Duration, what string, want func(r *recorder) bool,
) time.Duration {
	tb.Helper()
	start := time.Now()
	end := time.After(within)
	for {
		r.mu.Lock()
		ok := want(r)
		r.mu.Unlock()
		if ok {
			return time.Since(start)
		}
		select {
		case <-r.changed:
		case <-end:
			r.mu.Lock()
			defer r.mu.Unlock()
			tb.Fatalf("after %s: not %s; connected: %v, %d times; keys: %d",
				within, what, r.connected, r.connects, len(r.keys))
		}
	}
}

func (r *recorder) waitConnected(tb testing.TB, within time.Duration, times int) time.Duration {
	tb.Helper()
	return r.wait(tb, within, fmt.Sprintf("connected %d times", times),
		func(r *recorder) bool { return r.connected && r.connects >= times })
}

func (r *recorder) waitDisconnected(tb testing.TB, within time.Duration) time.Duration {
	tb.Helper()
	return r.wait(tb, within, "disconnected", func(r *recorder) bool { return !r.connected })
}

func (r *recorder) waitKey(tb testing.TB, key string) {
	tb.Helper()
	r.wait(tb, 5*time.Second, "notified of "+key, func(r *recorder) bool { return r.keys[key] > 0 })
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.keys, key)
}

// startConnected starts a watch and waits until it is connected.
func startConnected(tb testing.TB, s *store, prefix string) *recorder {
	tb.Helper()
	r := &recorder{keys: map[string]int{}, changed: make(chan struct{}, 1)}
	startWatch(tb, s, prefix, r)
	r.waitConnected(tb, 5*time.Second, 1)
	return r
}

// startWatch starts a watch that is stopped after the test.
func startWatch(tb testing.TB, s *store, prefix string, r *recorder) {
	tb.Helper()
	ctx, cancel := context.WithCancel(tb.Context())
	if err := s.Watch(ctx, prefix, r); err != nil {
		cancel()
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		cancel()
		s.watches.running.Wait()
		if r.connected {
			tb.Error("still connected after the stop")
		}
	})
}

func TestStore_Watch(t *testing.T) {
	t.Run("reports every change", func(t *testing.T) {
		s := openStore(t, serverURL(t))
		other := openStore(t, strings.TrimSuffix(serverURL(t), "/0")+"/3").client
		for _, prefix := range []string{
			"watch-" + rand.Text() + ":",
			"w\x00\r\n*? \xff" + rand.Text(), "",
		} {
			t.Run(fmt.Sprintf("%q", prefix), func(t *testing.T) {
				r := startConnected(t, s, prefix)
				key := prefix + "key" + rand.Text()
				for _, change := range []func() error{
					func() error { return s.client.Set(t.Context(), key, "a", 0).Err() },
					func() error { return other.Set(t.Context(), key, "b", time.Minute).Err() },
					func() error { return s.client.Del(t.Context(), key).Err() },
					func() error { return s.client.HSet(t.Context(), key, "field", "value").Err() },
					func() error {
						return s.client.PExpire(t.Context(), key, 20*time.Millisecond).Err()
					},
					func() error { return nil }, // the key expires
					func() error { return other.Del(t.Context(), key).Err() },
				} {
					must(t, change())
					r.waitKey(t, key)
				}
				if prefix == "" {
					return
				}
				must(t, s.client.Set(t.Context(), "x"+key, "not its prefix", time.Minute).Err())
				must(t, s.client.Set(t.Context(), prefix[:len(prefix)-1], "too short",
					time.Minute).Err())
				must(t, s.client.Set(t.Context(), key, "last", time.Minute).Err())
				r.waitKey(t, key)
				if len(r.keys) > 0 {
					t.Errorf("unexpected keys %q", slices.Collect(maps.Keys(r.keys)))
				}
			})
		}
	})

	t.Run("reconnects after a flush", func(t *testing.T) {
		server := cachetest.StartServers(t, "redis")
		s := openStore(t, server.URL)
		r := startConnected(t, s, "a:")
		must(t, s.client.FlushAll(t.Context()).Err())
		t.Logf("reconnected after %s", r.waitConnected(t, time.Second, 2))
		must(t, s.client.Set(t.Context(), "a:b", "c", 0).Err())
		r.waitKey(t, "a:b")
	})

	t.Run("reconnects after a killed connection", func(t *testing.T) {
		s := openStore(t, cachetest.StartServers(t, "redis").URL)
		var dials atomic.Int32
		dial := s.options.Dialer
		s.options.Dialer = func(ctx context.Context, network, address string) (net.Conn, error) {
			dials.Add(1)
			return dial(ctx, network, address)
		}
		prefix := "watch-" + rand.Text() + ":"
		r := startConnected(t, s, prefix)
		for i := range 3 {
			must(t, s.client.Do(t.Context(), "client", "kill", "type", "pubsub").Err())
			t.Logf("reconnected after %s", r.waitConnected(t, time.Second, i+2))
			must(t, s.client.Set(t.Context(), prefix+"b", "c", time.Minute).Err())
			r.waitKey(t, prefix+"b")
		}
		if n := dials.Load(); n != 4 {
			t.Errorf("connections = %d, want 4: one for each connect", n)
		}
	})

	t.Run("detects a silent connection", func(t *testing.T) {
		server := cachetest.StartServers(t, "redis")
		s := openStore(t, server.URL)
		r := startConnected(t, s, "a:")
		for i := range 2 {
			must(t, server.Pause(""))
			elapsed := r.waitDisconnected(t, s.Staleness())
			must(t, server.Continue(""))
			t.Logf("silence detected after %s, reconnected after %s",
				elapsed, r.waitConnected(t, 5*time.Second, i+2))
		}
		must(t, s.client.Set(t.Context(), "a:b", "c", 0).Err())
		r.waitKey(t, "a:b")
	})

	t.Run("starts before the server", func(t *testing.T) {
		server := cachetest.StartServers(t, "redis")
		s := openStore(t, server.URL)
		must(t, server.Kill(""))
		r := &recorder{keys: map[string]int{}, changed: make(chan struct{}, 1)}
		startWatch(t, s, "", r)
		must(t, server.Start(""))
		r.waitConnected(t, 5*time.Second, 1)
	})

	t.Run("stops when the store closes", func(t *testing.T) {
		s := openStore(t, serverURL(t))
		r := startConnected(t, s, "")
		s.watches.close()
		if r.connected {
			t.Error("still connected")
		}
		if err := s.Watch(t.Context(), "", r); !errors.Is(err, driver.ErrClosed) {
			t.Errorf("Watch = %v, want %v", err, driver.ErrClosed)
		}
	})

	t.Run("returns the error of an ended context", func(t *testing.T) {
		s := openStore(t, serverURL(t))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := s.Watch(ctx, "", &recorder{}); !errors.Is(err, context.Canceled) {
			t.Errorf("Watch = %v, want %v", err, context.Canceled)
		}
		s.watches.running.Wait()
	})
}

func TestStore_Watch_Permissions(t *testing.T) {
	s := openStore(t, serverURL(t))
	for _, tc := range []struct {
		name  string
		rules []any
		ok    bool
	}{
		{name: "without client tracking", rules: []any{
			"resetchannels",
			"&" + invalidations, "-client|tracking",
		}},
		{
			name:  "without client id",
			rules: []any{"resetchannels", "&" + invalidations, "-client|id"},
		},
		{name: "without the channel", rules: []any{"resetchannels"}},
		{name: "all permissions", rules: []any{
			"resetchannels", "&" + invalidations, "nocommands",
			"+client|id", "+client|tracking", "+subscribe", "+ping",
		}, ok: true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			name := "user-" + rand.Text()
			rules := append([]any{"acl", "setuser", name, "on", ">secret", "~*", "+@all"},
				tc.rules...)
			must(t, s.client.Do(t.Context(), rules...).Err())
			t.Cleanup(func() {
				must(t, s.client.Do(context.Background(), "acl", "deluser", name).Err())
			})
			limited := openStore(t, asUser(t, serverURL(t), name))
			if tc.ok {
				startConnected(t, limited, "a:")
				return
			}
			err := limited.Watch(t.Context(), "a:", &recorder{})
			if !errors.Is(err, driver.ErrConfig) ||
				!strings.Contains(err.Error(), "+client|tracking") {
				t.Errorf("Watch = %v, want an error with the permissions", err)
			}
		})
	}
}

func TestStore_Watch_Load(t *testing.T) {
	// If the watch is disconnected, the watcher is not notified of all keys.
	t.Run("reports many changes", func(t *testing.T) {
		const writes = 100_000
		s := openStore(t, serverURL(t))
		prefix := "watch-" + rand.Text() + ":"
		r := startConnected(t, s, prefix)
		for i := 0; i < writes; i += 1000 {
			_, err := s.client.Pipelined(t.Context(), func(p redis.Pipeliner) error {
				for j := range 1000 {
					p.Set(t.Context(), fmt.Sprint(prefix, i+j), "x", 10*time.Second)
				}
				return nil
			})
			must(t, err)
		}
		elapsed := r.wait(t, 10*time.Second, "notified of all keys",
			func(r *recorder) bool { return len(r.keys) == writes || r.connects > 1 })
		t.Logf("%d of %d keys reported %s after the last write, connected %d times",
			len(r.keys), writes, elapsed, r.connects)
	})

	t.Run("disconnects a slow watcher", func(t *testing.T) {
		for _, tc := range []struct {
			name, limit string
			writes      int
		}{
			{name: "without an output buffer limit", limit: "0 0 0", writes: 10},
			{name: "with an output buffer limit", limit: "64kb 64kb 1", writes: 100},
		} {
			t.Run(tc.name, func(t *testing.T) {
				server := cachetest.StartServers(t, "redis")
				s := openStore(t, server.URL)
				must(t, s.client.ConfigSet(t.Context(), "client-output-buffer-limit",
					"pubsub "+tc.limit).Err())
				r := &recorder{
					keys: map[string]int{}, changed: make(chan struct{}, 1),
					block: make(chan struct{}),
				}
				startWatch(t, s, "", r)
				r.waitConnected(t, 5*time.Second, 1)
				value := strings.Repeat("k", 1000)
				for range tc.writes {
					_, err := s.client.Pipelined(t.Context(), func(p redis.Pipeliner) error {
						for range 1000 {
							p.Set(t.Context(), value+rand.Text(), "x", 10*time.Second)
						}
						return nil
					})
					must(t, err)
				}
				<-time.After(s.Staleness())
				close(r.block)
				r.waitConnected(t, 5*time.Second, 2)
			})
		}
	})

	// The test publishes on the invalidation channel, which a server never does.
	t.Run("ignores messages of other clients", func(t *testing.T) {
		s := openStore(t, serverURL(t))
		prefix := "watch-" + rand.Text() + ":"
		r := startConnected(t, s, prefix)
		must(t, s.client.Publish(t.Context(), invalidations, prefix+"published").Err())
		must(t, s.client.Set(t.Context(), prefix+"a", "b", time.Minute).Err())
		r.waitKey(t, prefix+"a")
		if len(r.keys) > 0 || r.connects > 1 {
			t.Errorf("keys %v, connected %d times", r.keys, r.connects)
		}
	})
}
