package redis_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/plinthgo/plinth/core/major/xcache"
)

const (
	// deadline is the deadline of calls under load, and slack the tolerated delay on a
	// busy machine.
	deadline = 500 * time.Millisecond
	slack    = 500 * time.Millisecond
	// slowTimeout is the deadline of calls that must not fail on a slow machine.
	slowTimeout = 5 * time.Second
	// failover is the time limit for a failover. Sentinels on a busy machine pause for 30
	// s (TILT mode).
	// https://redis.io/docs/latest/operate/oss_and_stack/management/sentinel/#tilt-mode
	failover = time.Minute
)

// sleep lets a load run for d.
func sleep(d time.Duration) { <-time.After(d) }

func round(d time.Duration) time.Duration { return d.Round(time.Millisecond) }

// load runs goroutines that call continuously until end, and records the results.
type load struct {
	stop context.CancelFunc
	all  sync.WaitGroup

	deadline time.Duration // of each call

	mu            sync.Mutex
	calls, failed int
	slowest       time.Duration
	last          time.Time     // the last success
	gap           time.Duration // the longest time without a success
	started       []time.Time   // start of the last successful call of each goroutine
	recovered     time.Time     // when all goroutines had succeeded
	problem       error         // of the last failed call
}

func beginLoad(
	goroutines int, deadline time.Duration, call func(ctx context.Context, worker, i int) error,
) *load {
	ctx, stop := context.WithCancel(context.Background())
	l := &load{
		stop: stop, deadline: deadline, last: time.Now(), started: make([]time.Time, goroutines),
	}
	for worker := range goroutines {
		l.all.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				l.once(ctx, worker, func(ctx context.Context) error { return call(ctx, worker, i) })
			}
		})
	}
	return l
}

// once makes one call with a deadline. Canceling ctx does not cancel the call.
func (l *load) once(ctx context.Context, worker int, call func(ctx context.Context) error) {
	started := time.Now()
	callCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), l.deadline)
	defer cancel()
	err := call(callCtx)
	l.record(worker, started, err)
	if err != nil {
		sleep(2 * time.Millisecond)
	}
}

func (l *load) record(worker int, started time.Time, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	l.calls++
	l.slowest = max(l.slowest, now.Sub(started))
	if err != nil {
		l.failed++
		l.problem = err
		return
	}
	l.gap = max(l.gap, now.Sub(l.last))
	l.last, l.started[worker] = now, started
}

// allSucceeded waits until each goroutine has succeeded with a call that started after
// since, and reports whether this happened in time.
func (l *load) allSucceeded(since time.Time, within time.Duration) bool {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	timeout := time.After(within)
	for {
		select {
		case <-timeout:
			return false
		case <-tick.C:
		}
		l.mu.Lock()
		pending := slices.ContainsFunc(l.started,
			func(started time.Time) bool { return !started.After(since) })
		if !pending {
			l.recovered = time.Now()
		}
		l.mu.Unlock()
		if !pending {
			return true
		}
	}
}

// end stops the load. Its results can be read afterwards.
func (l *load) end() {
	l.stop()
	l.all.Wait()
}

// wantBounded fails the test if a call exceeded its time limit.
func (l *load) wantBounded(t *testing.T) {
	t.Helper()
	if l.slowest > l.deadline+slack {
		t.Errorf("slowest call = %s, with a deadline of %s", l.slowest, l.deadline)
	}
}

func (l *load) String() string {
	return fmt.Sprintf("%s without a successful call, %d of %d calls failed, slowest call %s",
		round(l.gap), l.failed, l.calls, round(l.slowest))
}

// writeLoad is a load of writes to distinct keys that records the acknowledged writes.
type writeLoad struct {
	*load
	keys *xcache.KeyCache[string, int]

	mu    sync.Mutex
	acked map[string]time.Time
}

func startWrites(
	m *xcache.Manager, goroutines int, deadline time.Duration, name func(worker, i int) string,
) *writeLoad {
	w := &writeLoad{keys: xcache.KeyCacheOf[string, int](m), acked: map[string]time.Time{}}
	w.load = beginLoad(goroutines, deadline, func(ctx context.Context, worker, i int) error {
		key := name(worker, i)
		err := w.keys.Set(ctx, key, &i)
		if err == nil {
			w.mu.Lock()
			w.acked[key] = time.Now()
			w.mu.Unlock()
		}
		return err
	})
	return w
}

// plainName is the default key name of startWrites.
func plainName(worker, i int) string { return "w" + strconv.Itoa(worker) + ":" + strconv.Itoa(i) }

// lost returns the acknowledged writes that m does not find, with the time of
// acknowledgement.
func (w *writeLoad) lost(t *testing.T, m *xcache.Manager) map[string]time.Time {
	t.Helper()
	keys := xcache.KeyCacheOf[string, int](m)
	lost := map[string]time.Time{}
	for batch := range slices.Chunk(names(w.acked), 500) {
		found, err := keys.GetMany(t.Context(), batch)
		if err != nil {
			t.Fatalf("GetMany = %v", err)
		}
		for _, name := range batch {
			if _, ok := found[name]; !ok {
				lost[name] = w.acked[name]
			}
		}
	}
	return lost
}

func names(m map[string]time.Time) []string {
	all := make([]string, 0, len(m))
	for name := range m {
		all = append(all, name)
	}
	return all
}

// wantRecentLosses fails the test if a lost write was not acknowledged around the failure
// of the master. The replicas must have earlier writes, and the new master later ones.
func wantRecentLosses(t *testing.T, lost map[string]time.Time, failedAt time.Time) {
	t.Helper()
	for name, acked := range lost {
		if acked.Before(failedAt.Add(-lag)) || acked.After(failedAt.Add(slack)) {
			t.Errorf("%s is lost, acknowledged %s after the failure of the master",
				name, acked.Sub(failedAt))
			return
		}
	}
}
