package redis

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/plinthgo/plinth/conformance/cachetest"
	leasedriver "github.com/plinthgo/plinth/core/common/xlease/driver"
)

// leasePrefix separates the keys of tests.
func leasePrefix(tb testing.TB, s *store) string {
	tb.Helper()
	prefix := "lease-" + rand.Text() + ":"
	tb.Cleanup(func() {
		keys, err := s.client.Keys(context.Background(), prefix+"*").Result()
		if err == nil && len(keys) > 0 {
			_ = s.client.Del(context.Background(), keys...).Err()
		}
	})
	return prefix
}

func request(name string, ttl time.Duration) leasedriver.Request {
	return leasedriver.Request{Name: name, Count: 1, Holder: rand.Text(), TTL: ttl}
}

func holding(r leasedriver.Request, g leasedriver.Grant) leasedriver.Holding {
	return leasedriver.Holding{
		Name: r.Name, Slot: g.Slot, Holder: r.Holder, Token: g.Token,
		TTL: r.TTL, Mark: max(g.Mark, r.Mark),
	}
}

// acquire acquires a free slot.
func acquire(tb testing.TB, b leasedriver.Backend, r leasedriver.Request) leasedriver.Grant {
	tb.Helper()
	g, err := b.Acquire(context.Background(), r)
	if err != nil || !g.OK {
		tb.Fatalf("Acquire = %+v, %v, want a grant", g, err)
	}
	return g
}

// wantResult fails the test unless a call returned want and no error.
func wantResult[T comparable](tb testing.TB, what string, got T, err error, want T) {
	tb.Helper()
	if err != nil || got != want {
		tb.Errorf("%s = %v, %v, want %v", what, got, err, want)
	}
}

func TestLeases_Acquire(t *testing.T) {
	t.Run("has one holder and increasing tokens", func(t *testing.T) {
		const rounds = 1000
		address := serverURL(t)
		first := openStore(t, address)
		prefix := leasePrefix(t, first)
		var owners, last, finished atomic.Int64
		var wg sync.WaitGroup
		for _, s := range []*store{first, openStore(t, address)} {
			b := s.LeaseBackend(prefix)
			wg.Go(func() {
				for finished.Load() < rounds {
					r := request("race", time.Minute)
					g, err := b.Acquire(t.Context(), r)
					if err != nil {
						t.Error(err)
						return
					}
					if !g.OK {
						continue
					}
					if n := owners.Add(1); n != 1 {
						t.Errorf("%d holders", n)
					}
					if before := last.Swap(g.Token); before >= g.Token {
						t.Errorf("token %d after %d", g.Token, before)
					}
					finished.Add(1)
					owners.Add(-1)
					ok, err := b.Release(t.Context(), holding(r, g))
					wantResult(t, "Release", ok, err, true)
				}
			})
		}
		wg.Wait()
	})

	t.Run("works after SCRIPT FLUSH", func(t *testing.T) {
		s := openStore(t, cachetest.StartServers(t, "redis").URL)
		b := s.LeaseBackend(leasePrefix(t, s))
		r := request("flush", time.Minute)
		flush := func() {
			if err := s.client.ScriptFlush(t.Context()).Err(); err != nil {
				t.Fatal(err)
			}
		}
		flush()
		g := acquire(t, b, r)
		flush()
		ok, err := b.Renew(t.Context(), holding(r, g))
		wantResult(t, "Renew", ok, err, true)
		flush()
		ok, err = b.Release(t.Context(), holding(r, g))
		wantResult(t, "Release", ok, err, true)
	})

	t.Run("sets an expiry on the hash of a single slot", func(t *testing.T) {
		s := openStore(t, serverURL(t))
		prefix := leasePrefix(t, s)
		b := s.LeaseBackend(prefix)
		hashTTL := func(name string) time.Duration {
			d, err := s.client.PTTL(t.Context(), prefix+name).Result()
			if err != nil {
				t.Fatal(err)
			}
			return d
		}
		between := func(what string, got, low, high time.Duration) {
			if got < low || got > high {
				t.Errorf("%s: TTL of the hash = %s, want %s to %s", what, got, low, high)
			}
		}
		const ttl = 10 * time.Second
		one := request("one", ttl)
		g := acquire(t, b, one)
		between("one slot", hashTTL("one"), leasedriver.Retention+ttl-time.Second,
			leasedriver.Retention+ttl)

		h := holding(one, g)
		h.TTL = 2 * ttl
		ok, err := b.Renew(t.Context(), h)
		wantResult(t, "Renew", ok, err, true)
		between("renewed", hashTTL("one"), leasedriver.Retention+2*ttl-time.Second,
			leasedriver.Retention+2*ttl)
		ok, err = b.Release(t.Context(), h)
		wantResult(t, "Release", ok, err, true)
		between("released", hashTTL("one"), leasedriver.Retention, leasedriver.Retention+2*ttl)

		const forever = -1 // the result of go-redis for no expiry
		both := request("both", ttl)
		acquire(t, b, both)
		both = request("both", ttl)
		both.Count = 2
		acquire(t, b, both)
		between("two slots", hashTTL("both"), forever, forever)
		lost := leasedriver.Holding{Name: "lost", Slot: 3, Holder: rand.Text(), Token: 1, TTL: ttl}
		ok, err = b.Renew(t.Context(), lost)
		wantResult(t, "Renew", ok, err, true)
		between("slot 3 of a lost name", hashTTL("lost"), forever, forever)
	})

	t.Run("stores marks exactly", func(t *testing.T) {
		s := openStore(t, serverURL(t))
		b := s.LeaseBackend(leasePrefix(t, s))
		marks := []int64{
			math.MaxInt64 - 1, math.MaxInt64, math.MinInt64, -10, -9, 0, 9, 10, 1<<53 + 1,
			1<<53 + 2,
		}
		for i, mark := range marks {
			for j, next := range marks {
				name := fmt.Sprintf("marks-%d-%d", i, j)
				r := request(name, time.Minute)
				r.Mark = mark
				h := holding(r, acquire(t, b, r))
				h.Mark = mark // holding ignores a lower mark
				ok, err := b.Release(t.Context(), h)
				wantResult(t, "Release", ok, err, true)
				r = request(name, time.Minute)
				r.Mark = next
				g := acquire(t, b, r)
				if g.Mark != mark {
					t.Errorf("mark = %d, want %d", g.Mark, mark)
				}
				value, err := s.client.HGet(t.Context(), b.(*leases).prefix+name, "0").Result()
				want := fmt.Sprintf(" %d %d", g.Token, max(mark, next))
				if err != nil || value[len(value)-len(want):] != want {
					t.Errorf("record = %q, %v, want %q at its end", value, err, want)
				}
			}
		}
	})

	t.Run("assigns all slots of a long range", func(t *testing.T) {
		s := openStore(t, serverURL(t))
		b := s.LeaseBackend(leasePrefix(t, s))
		const first, count, begin = 7, 1000, 500
		for i := range count {
			r := request("range", time.Minute)
			r.First, r.Count, r.Begin = first, count, begin
			if g, want := acquire(t, b, r), first+(begin-first+i)%count; g.Slot != want {
				t.Fatalf("slot = %d, want %d", g.Slot, want)
			}
		}
		r := request("range", time.Minute)
		r.First, r.Count, r.Begin = first, count, begin
		g, err := b.Acquire(t.Context(), r)
		if err != nil || g.OK || g.Wait <= 0 || g.Wait > time.Minute {
			t.Errorf("Acquire = %+v, %v, want a wait of up to a minute", g, err)
		}
	})
}

// eventually repeats try until it succeeds.
func eventually(tb testing.TB, within time.Duration, try func() error) {
	tb.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	timeout := time.After(within)
	for {
		err := try()
		if err == nil {
			return
		}
		select {
		case <-tick.C:
		case <-timeout:
			tb.Fatalf("after %s: %v", within, err)
		}
	}
}

func TestLeases_LostRecord(t *testing.T) {
	server := cachetest.StartServers(t, "redis")
	s := openStore(t, server.URL)
	b := s.LeaseBackend("lease:")
	r := request("kept", time.Minute)
	h := holding(r, acquire(t, b, r))
	must(t, server.Kill(""))
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	start := time.Now()
	if ok, err := b.Renew(ctx, h); err == nil || time.Since(start) > 4*time.Second {
		t.Errorf("Renew without a server = %v, %v after %s", ok, err, time.Since(start))
	}
	must(t, server.Start(""))
	eventually(t, 5*time.Second, func() error {
		ok, err := b.Renew(t.Context(), h)
		if err == nil && !ok {
			t.Fatal("the lost record was not restored")
		}
		return err
	})
	other := request("kept", time.Minute)
	if g, err := b.Acquire(t.Context(), other); err != nil || g.OK {
		t.Errorf("Acquire = %+v, %v, want no grant", g, err)
	}
	ok, err := b.Release(t.Context(), h)
	wantResult(t, "Release", ok, err, true)
	if g := acquire(t, b, other); g.Token <= h.Token || g.Age > time.Minute {
		t.Errorf("grant = %+v, want a token above %d and an age below a minute", g, h.Token)
	}
}

// sentinels returns servers with Sentinel, a store for them, and the addresses of the
// master and its replicas.
func sentinels(
	t *testing.T,
) (server *cachetest.Servers, s *store, master string, replicas []string) {
	t.Helper()
	server = cachetest.StartServers(t, "redis-sentinel")
	for _, n := range server.Nodes {
		switch n.Role {
		case "master":
			master = n.Address
		case "replica":
			replicas = append(replicas, n.Address)
		}
	}
	return server, openStore(t, server.URL), master, replicas
}

func TestLeases_Failover(t *testing.T) {
	t.Run("does not lose a lease", func(t *testing.T) {
		server, s, master, _ := sentinels(t)
		b := s.LeaseBackend("lease:")
		r := request("kept", time.Minute)
		h := holding(r, acquire(t, b, r))
		must(t, server.Kill(node(t, server, master)))
		other := request("kept", time.Minute)
		eventually(t, time.Minute, func() error {
			g, err := b.Acquire(t.Context(), other)
			if err == nil && g.OK {
				t.Fatal("a second holder after the failover")
			}
			return err
		})
		ok, err := b.Renew(t.Context(), h)
		wantResult(t, "Renew", ok, err, true)
	})

	t.Run("grants nothing without a confirming replica", func(t *testing.T) {
		server, s, _, replicas := sentinels(t)
		b := s.LeaseBackend("lease:")
		for _, replica := range replicas {
			must(t, server.Pause(node(t, server, replica)))
		}
		r := request("unsure", 3*time.Second)
		r.Mark = 5
		start := time.Now()
		g, err := b.Acquire(t.Context(), r)
		if !errors.Is(err, errUnconfirmed) || g.OK || time.Since(start) > r.TTL {
			t.Errorf("Acquire = %+v, %v after %s, want %v",
				g, err, time.Since(start), errUnconfirmed)
		}
		for _, replica := range replicas {
			must(t, server.Continue(node(t, server, replica)))
		}
		eventually(t, 10*time.Second, func() error {
			g, err = b.Acquire(t.Context(), request("unsure", 3*time.Second))
			return err
		})
		if !g.OK || g.Mark != 0 {
			t.Errorf("grant = %+v, want no mark: the record was released unchanged", g)
		}
	})

	t.Run("follows the masters of a cluster", func(t *testing.T) {
		server := cachetest.StartServers(t, "redis-cluster")
		s := openStore(t, server.URL)
		b := s.LeaseBackend("lease:")
		cluster, ok := s.client.(*redis.ClusterClient)
		if !ok {
			t.Fatalf("the client is a %T", s.client)
		}
		holdings := map[string]leasedriver.Holding{}
		for i := range 30 {
			r := request(fmt.Sprintf("name-%d", i), time.Minute)
			holdings[r.Name] = holding(r, acquire(t, b, r))
		}
		replaceMasters(t, s, server)
		for i := range 30 { // the client does not know the new masters yet
			r := request(fmt.Sprintf("later-%d", i), time.Minute)
			eventually(t, 10*time.Second, func() error {
				g, err := b.Acquire(t.Context(), r)
				if redis.HasErrorPrefix(err, "MOVED ") || errors.Is(err, errUnconfirmed) {
					// some servers have not received the new state, and a former master
					// may not replicate yet
					return err
				}
				if err != nil || !g.OK {
					t.Fatalf("Acquire = %+v, %v, want a grant", g, err)
				}
				holdings[r.Name] = holding(r, g)
				return nil
			})
		}
		owner, err := cluster.MasterForKey(t.Context(), "lease:name-0")
		if err != nil {
			t.Fatal(err)
		}
		must(t, server.Kill(node(t, server, owner.Options().Addr)))
		eventually(t, time.Minute, func() error {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			g, err := b.Acquire(ctx, request("name-0", time.Minute))
			if err == nil && g.OK {
				t.Fatal("a second holder after the failover")
			}
			return err
		})
		for name, h := range holdings {
			ok, err := b.Renew(t.Context(), h)
			wantResult(t, "Renew "+name, ok, err, true)
		}
	})
}

// replaceMasters promotes every replica of a cluster.
func replaceMasters(t *testing.T, s *store, server *cachetest.Servers) {
	t.Helper()
	for _, n := range server.Nodes {
		if n.Role != "replica" {
			continue
		}
		c := redis.NewClient((&watch{options: *s.options}).server(n.Address))
		must(t, c.ClusterFailover(t.Context()).Err())
		eventually(t, 10*time.Second, func() error {
			role, err := c.Do(t.Context(), "role").Slice()
			if err == nil && role[0] != "master" {
				err = errors.New("the replica is not a master yet")
			}
			return err
		})
		must(t, c.Close())
	}
}
