package redis_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"sync"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/plinthgo/plinth/cacheplugins/redis"
	"github.com/plinthgo/plinth/conformance/cachetest"
	"github.com/plinthgo/plinth/core/major/xcache"
	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// maxLatency is the maximum latency of an invalidation of a local server under load.
const maxLatency = time.Second

func TestConformance_Near(t *testing.T) {
	url, _ := server(t)
	var all []*copies
	cachetest.Run(t, cachetest.Harness{
		Driver: redis.Driver{},
		Config: func(testing.TB) driver.Config { return driver.Config{URL: url} },
		Manager: func(testing.TB) []xcache.ManagerOption {
			all = append(all, newCopies())
			return []xcache.ManagerOption{func(o *xcache.Options) {
				o.NearStore, o.NearTTL = all[len(all)-1], time.Minute
			}}
		},
	})
	hits := int64(0)
	for _, c := range all {
		hits += c.hits.Load()
	}
	t.Logf("%d hits", hits)
	if hits == 0 {
		t.Error("no hit: the suite ran without a near cache")
	}
}

func TestNear_Invalidation(t *testing.T) {
	t.Run("reports writes of any client", func(t *testing.T) {
		url, _ := server(t)
		prefix := "near-" + rand.Text() + ":"
		local, remote := openNear(t, url, prefix), openNear(t, url, prefix)
		ctx, direct := t.Context(), remote.client
		var worst time.Duration
		n := 1
		for round := range 50 {
			for name, write := range map[string]func(key string, n int) error{
				"another process": func(key string, n int) error {
					return remote.Set(ctx, key, &n, xcache.WithTTL(time.Minute))
				},
				"another batch": func(key string, n int) error {
					return remote.SetMany(ctx, map[string]int{key: n, key + "x": n},
						xcache.WithTTL(time.Minute))
				},
				"SET": func(key string, n int) error {
					return direct.Set(ctx, prefix+key, n, time.Minute).Err()
				},
				"MSET": func(key string, n int) error {
					return direct.MSet(ctx, prefix+key, n, prefix+key+"x", n).Err()
				},
				"a script": func(key string, n int) error {
					return direct.Eval(ctx,
						"return redis.call('set', KEYS[1], ARGV[1], 'px', 60000)",
						[]string{prefix + key}, n).Err()
				},
			} {
				key := fmt.Sprint("key", round)
				local.value(t, key)
				n++
				if err := write(key, n); err != nil {
					t.Fatal(name, err)
				}
				worst = max(worst, until(t, maxLatency, "new value after "+name,
					func() bool { return local.value(t, key) == n }))
			}
		}
		t.Logf("maximum delay of changes of another client: %s", worst)

		local.warm(t, "gone")
		for name, remove := range map[string]func() error{
			"another process": func() error { return remote.Delete(ctx, "gone") },
			"DEL":             func() error { return direct.Del(ctx, prefix+"gone").Err() },
			"PEXPIRE": func() error {
				return direct.PExpire(ctx, prefix+"gone", time.Millisecond).Err()
			},
			"RENAME": func() error {
				return direct.Rename(ctx, prefix+"gone", prefix+"elsewhere").Err()
			},
			"a list": func() error {
				err := direct.Del(ctx, prefix+"gone").Err()
				if err == nil {
					err = direct.RPush(ctx, prefix+"list", 1).Err()
				}
				return err
			},
		} {
			local.warm(t, "gone")
			if err := remove(); err != nil {
				t.Fatal(name, err)
			}
			until(t, maxLatency, "removal after "+name,
				func() bool { return local.value(t, "gone") == 0 })
		}
	})
}

// A copy expires with its key, even if the server has not removed the key yet.
func TestNear_TTL(t *testing.T) {
	url, _ := server(t)
	prefix := "near-" + rand.Text() + ":"
	p := openNear(t, url, prefix)
	const keys, ttl = 200, 400 * time.Millisecond
	names := make([]string, keys)
	ctx, n := t.Context(), 1
	for i := range names {
		names[i] = fmt.Sprint("short", i)
		if err := p.Set(ctx, names[i], &n, xcache.WithTTL(ttl)); err != nil {
			t.Fatal(err)
		}
		if i%2 == 0 {
			p.value(t, names[i])
		}
	}
	if _, err := p.GetMany(ctx, names); err != nil {
		t.Fatal(err)
	}
	before := p.near.Load()
	start := time.Now()
	for len(names) > 0 && time.Since(start) < 5*time.Second {
		var rest []string
		for _, name := range names {
			exists, err := p.Exists(ctx, name) // queries the server
			if err != nil {
				t.Fatal(err)
			}
			if got := p.value(t, name); !exists && got != 0 {
				t.Errorf("%s has expired, but Get = %d", name, got)
			}
			if exists {
				rest = append(rest, name)
			}
		}
		names = rest
	}
	if p.near.Load() == before {
		t.Error("no hit: the test is inconclusive")
	}
}

func TestNear_Outage(t *testing.T) {
	t.Run("reads new values after a killed connection", func(t *testing.T) {
		s := cachetest.StartServers(t, "redis")
		local, remote := openNear(t, s.URL, "near:"), openNear(t, s.URL, "near:")
		ctx := t.Context()
		var worst time.Duration
		for n := 2; n < 12; n++ {
			local.warm(t, "key")
			kill(ctx, t, remote.client)
			if err := remote.client.Set(ctx, "near:key", n, 0).Err(); err != nil {
				t.Fatal(err)
			}
			worst = max(worst, until(t, local.staleness, "new value",
				func() bool { return local.value(t, "key") == n }))
			local.warm(t, "other") // the watch is up again
			if got := local.value(t, "key"); got != n {
				t.Errorf("read %d after %d: stale copy", got, n)
			}
		}
		s.Note("near cache: writes after a killed invalidation connection are visible "+
			"after at most %s (limit %s)", worst, local.staleness)
	})

	// While the server is down, copies are valid until the staleness limit. Then reads
	// fail.
	t.Run("returns copies only within the staleness limit", func(t *testing.T) {
		s := cachetest.StartServers(t, "redis")
		p := openNear(t, s.URL, "near:")
		for _, tc := range []struct {
			name     string
			down, up func(string) error
		}{
			{"killed", s.Kill, s.Start},
			{"paused", s.Pause, s.Continue},
		} {
			p.warm(t, "key")
			if err := tc.down(""); err != nil {
				t.Fatal(err)
			}
			downSince := time.Now()
			var last time.Duration // of the last successful read
			for time.Since(downSince) < p.staleness+time.Second {
				at := time.Since(downSince)
				ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
				if _, _, err := p.Get(ctx, "key"); err == nil {
					last = at
				}
				cancel()
			}
			if last > p.staleness {
				t.Errorf("%s: hit after %s, want at most %s", tc.name, last, p.staleness)
			}
			if err := tc.up(""); err != nil {
				t.Fatal(err)
			}
			up := time.Now()
			until(t, 10*time.Second, "reply of the server",
				func() bool { _, _, err := p.Get(t.Context(), "key"); return err == nil })
			p.warm(t, "key")
			s.Note("near cache, server %s: copies returned for %s (limit %s), "+
				"and again %s after the server was available",
				tc.name, round(last), p.staleness, round(time.Since(up)))
		}
	})
}

// Two processes and another client write while connections are killed. No read may exceed
// the staleness limit or miss its process's own writes, and finally all processes agree.
func TestNear_Load(t *testing.T) {
	const keys, duration = 16, 3 * time.Second
	s := cachetest.StartServers(t, "redis")
	processes := []*process{openNear(t, s.URL, "near:"), openNear(t, s.URL, "near:")}
	var staleness lags
	var histories [keys]history
	name := func(i int) string { return fmt.Sprint("key", i) }
	ctx, cancel := context.WithTimeout(t.Context(), duration)
	defer cancel()

	write := func(i int) error { // each writer has its own keys
		return histories[i].add(func(n int) error {
			switch writer := i % 3; writer {
			case 2:
				return processes[0].client.Set(t.Context(), "near:"+name(i), n, 0).Err()
			default:
				p := processes[writer]
				if err := p.Set(t.Context(), name(i), &n); err != nil {
					return err
				}
				if got := p.value(t, name(i)); got != n {
					return fmt.Errorf("read %d after the write of %d", got, n)
				}
				return nil
			}
		})
	}
	for i := range keys {
		if err := write(i); err != nil {
			t.Fatal(err)
		}
	}
	var all sync.WaitGroup
	for writer := range 3 {
		all.Go(func() {
			for i := writer; ctx.Err() == nil; i = (i + 3) % (keys / 3 * 3) {
				if err := write(i); err != nil {
					t.Error(err)
				}
				sleep(time.Millisecond)
			}
		})
	}
	for _, p := range processes {
		for range 2 {
			all.Go(func() { readUnder(ctx, t, p, histories[:], name, &staleness) })
		}
	}
	all.Go(func() {
		for ctx.Err() == nil {
			sleep(200 * time.Millisecond)
			kill(context.WithoutCancel(ctx), t, processes[0].client)
		}
	})
	all.Wait()
	if worst := staleness.worst(); worst > processes[0].staleness {
		t.Errorf("staleness = %s, want at most %s", worst, processes[0].staleness)
	}
	for _, p := range processes {
		for i := range keys {
			until(t, p.staleness, "agreement",
				func() bool { return p.value(t, name(i)) == histories[i].last() })
		}
	}
	s.Note("near caches of 2 processes under load: %s; %d hits",
		&staleness, processes[0].near.Load()+processes[1].near.Load())
}

// readUnder reads all keys until ctx is done and records the staleness of each read.
func readUnder(
	ctx context.Context, t *testing.T, p *process, histories []history, name func(int) string,
	staleness *lags,
) {
	for i := 0; ctx.Err() == nil; i = (i + 1) % len(histories) {
		at := time.Now()
		v, ok, err := p.Get(context.WithoutCancel(ctx), name(i))
		if err != nil || !ok {
			t.Errorf("Get = %t, %v", ok, err)
			return
		}
		staleness.add(histories[i].lag(*v, at))
		if i == 0 {
			sleep(100 * time.Microsecond) // yields to the writers
		}
	}
}

// kill closes the server's invalidation connections.
func kill(ctx context.Context, t *testing.T, c *goredis.Client) {
	t.Helper()
	if err := c.Do(ctx, "client", "kill", "type", "pubsub").Err(); err != nil {
		t.Error(err)
	}
}
