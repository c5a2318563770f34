package redis_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/plinthgo/plinth/conformance/cachetest"
	"github.com/plinthgo/plinth/core/common/xlease"
	"github.com/plinthgo/plinth/core/major/xcache"
)

// holders tracks the valid leases of one name.
type holders struct {
	mu       sync.Mutex
	leases   []*xlease.Lease
	problems []string
	token    int64
	acquired []time.Time // times at which the leases were acquired
	lost     int
}

func (h *holders) add(l *xlease.Lease) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if l.Token() <= h.token {
		h.problems = append(h.problems, "a token is not larger than the previous one")
	}
	h.token = l.Token()
	h.leases = append(h.leases, l)
	h.acquired = append(h.acquired, time.Now())
}

func (h *holders) count() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.acquired)
}

func (h *holders) remove(l *xlease.Lease) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.leases = slices.DeleteFunc(h.leases, func(other *xlease.Lease) bool { return other == l })
	if errors.Is(l.Err(), xlease.ErrLost) {
		h.lost++
	}
}

// check inspects the leases twice: leases that are valid both times are held
// concurrently.
func (h *holders) check() {
	h.mu.Lock()
	defer h.mu.Unlock()
	valid := slices.Clone(h.leases)
	for range 2 {
		valid = slices.DeleteFunc(valid, func(l *xlease.Lease) bool { return l.Err() != nil })
	}
	if len(valid) > 1 {
		h.problems = append(h.problems, "two leases are valid at the same time")
	}
}

// contend acquires and releases the lease repeatedly. While hold is set, it does not
// release the lease.
func (h *holders) contend(
	ctx context.Context, m *xcache.Manager, ttl time.Duration, hold *atomic.Bool,
) {
	for ctx.Err() == nil {
		lease, err := m.Lease(ctx, "job", ttl, xlease.WithWait())
		if err != nil {
			sleep(10 * time.Millisecond)
			continue
		}
		h.add(lease)
		release := time.After(150 * time.Millisecond)
		for holding := true; holding; {
			select {
			case <-lease.Done():
				holding = false
			case <-ctx.Done():
				holding = false
			case <-release:
				holding = hold.Load()
				release = time.After(10 * time.Millisecond)
			case <-time.After(time.Millisecond):
			}
			h.check()
		}
		h.remove(lease)
		releaseCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), deadline)
		_ = lease.Release(releaseCtx) // the lease may be lost and the server unavailable
		cancel()
	}
}

func TestLease_Failover(t *testing.T) {
	for _, tc := range []struct {
		name string
		ttl  time.Duration
	}{
		{name: "shorter than the failover", ttl: time.Second},
		{name: "longer than the failover", ttl: 12 * time.Second},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := cachetest.StartServers(t, "redis-sentinel")
			old := master(t, s)
			ctx, stop := context.WithCancel(t.Context())
			var all sync.WaitGroup
			var hold atomic.Bool
			h := &holders{}
			for range 4 {
				m := openServers(t, s.URL) // like a separate process
				all.Go(func() { h.contend(ctx, m, tc.ttl, &hold) })
			}
			m := openServers(t, s.URL)
			sleep(time.Second)
			hold.Store(true)
			sleep(200 * time.Millisecond)
			inSync(t, s, old)
			before := h.count() // no client acquires the lease while hold is set
			if err := s.Kill(old.Name); err != nil {
				t.Fatal(err)
			}
			killed := time.Now()
			l := beginLoad(1, deadline, mixed(m))
			recovered := l.allSucceeded(killed, failover)
			l.end()
			hold.Store(false)
			for end := time.Now().Add(failover); recovered && h.count() == before &&
				time.Now().Before(end); {
				sleep(10 * time.Millisecond)
			}
			sleep(tc.ttl/4 + time.Second)
			stop()
			all.Wait()
			if !recovered {
				t.Fatalf("no new master %s after the failure: %v", failover, l.problem)
			}
			for _, p := range slices.Compact(h.problems) {
				t.Error(p)
			}
			next := h.acquired[min(before, len(h.acquired)-1)].Sub(killed)
			s.Note("lease of %s, master killed while it is held: %d times two holders, "+
				"%d leases lost, acquired again %s after the kill, %d holders in total",
				tc.ttl, len(h.problems), h.lost, round(next), len(h.acquired))
			if len(h.acquired) == before {
				t.Error("the lease was not acquired after the failover")
			}
		})
	}
}

// inSync returns when the replicas have all writes that the master had at the time of the
// call.
func inSync(t *testing.T, s *cachetest.Servers, n cachetest.Node) {
	t.Helper()
	conn := direct(t, s, n).Conn()
	defer func() { _ = conn.Close() }()
	if err := conn.Set(t.Context(), "sync", "1", 0).Err(); err != nil {
		t.Fatal(err)
	}
	if count, err := conn.Do(t.Context(), "wait", 2, 5000).Int(); err != nil || count != 2 {
		t.Fatalf("%d replicas in sync, %v; want 2", count, err)
	}
}
