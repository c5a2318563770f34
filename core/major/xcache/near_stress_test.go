package xcache_test

import (
	"context"
	"math/rand/v2"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/plinthgo/plinth/core/major/xcache"
	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

const (
	stressKeys    = 8 // few, to cause conflicts
	stressReaders = 4
	stressTime    = 600 * time.Millisecond
)

// stress is a server whose keys have increasing numbers, with one writer per key. It
// reports changes with a delay, in order, and loses its watcher from time to time.
type stress struct {
	*fakeServer

	// floor is the minimum that a read starting now must return, by key.
	floor   [stressKeys]atomic.Int64
	written [stressKeys]atomic.Int64
	reads   atomic.Int64

	mu      sync.Mutex // held while a change is queued, and while the watch changes its state
	up      bool
	queue   chan change
	pending sync.WaitGroup
}

type change struct {
	keys    []string
	floor   [stressKeys]int64 // after the watcher was notified
	connect bool
}

// notify queues a change. It is lost while the watch is down.
func (s *stress) notify(keys []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.up {
		s.send(change{keys: keys})
	}
}

// send queues c with the floor before it.
func (s *stress) send(c change) {
	for i := range c.floor {
		if c.keys == nil || c.keys[0] == stressKey(i) {
			c.floor[i] = s.written[i].Load()
		}
	}
	s.pending.Add(1)
	s.queue <- c
}

// deliver calls the watcher.
func (s *stress) deliver() {
	for c := range s.queue {
		if rand.N(4) == 0 {
			runtime.Gosched()
		}
		if c.connect {
			s.watcher.Disconnected()
			s.watcher.Connected()
		} else {
			s.watcher.Invalidate(c.keys)
		}
		for i, n := range c.floor {
			raise(&s.floor[i], n)
		}
		s.pending.Done()
	}
}

// raise sets v to n if n is greater.
func raise(v *atomic.Int64, n int64) {
	for old := v.Load(); old < n && !v.CompareAndSwap(old, n); old = v.Load() {
	}
}

func stressKey(i int) string { return "k" + strconv.Itoa(i) }

// write writes the next number of a key, through c or as another process if c is nil.
// Only the writer of the key calls it.
func (s *stress) write(t *testing.T, c *xcache.KeyCache[string, int64], i int) {
	n := s.written[i].Load() + 1
	key := stressKey(i)
	if c == nil {
		_, err := s.MapStore.Set(t.Context(), key, strconv.AppendInt(nil, n, 10), driver.Write{})
		s.written[i].Store(n)
		if err != nil {
			t.Error(err)
		}
		s.notify([]string{key})
		return
	}
	if err := c.Set(t.Context(), key, &n); err != nil {
		t.Error(err)
	}
	s.written[i].Store(n)
	raise(&s.floor[i], n) // own writes are visible immediately
	s.notify([]string{key})
	s.read(t, c, i)
}

// read reads a key and fails the test if the number is too old.
func (s *stress) read(t *testing.T, c *xcache.KeyCache[string, int64], i int) {
	floor := s.floor[i].Load()
	v, ok, err := c.Get(t.Context(), stressKey(i))
	if err != nil || !ok {
		t.Errorf("Get = %t, %v", ok, err)
		return
	}
	s.check(t, i, *v, floor)
}

// readAll is read for all keys.
func (s *stress) readAll(t *testing.T, c *xcache.KeyCache[string, int64]) {
	var floor [stressKeys]int64
	var keys []string
	for i := range floor {
		floor[i] = s.floor[i].Load()
		keys = append(keys, stressKey(i))
	}
	got, err := c.GetMany(t.Context(), keys)
	if err != nil || len(got) != stressKeys {
		t.Errorf("GetMany = %v, %v", got, err)
		return
	}
	for i := range floor {
		s.check(t, i, got[stressKey(i)], floor[i])
	}
}

func (s *stress) check(t *testing.T, i int, got, floor int64) {
	if got < floor {
		t.Errorf("key %d: read %d, want at least %d", i, got, floor)
	}
	s.reads.Add(1)
	runtime.Gosched()
}

// Readers and writers run in this process and in a simulated other process. A read must
// not return a value older than the last one reported to the watcher or written in this
// process.
func TestNear_Staleness(t *testing.T) {
	s := &stress{fakeServer: newServer(), up: true, queue: make(chan change, 64)}
	s.afterGet = func(string) { runtime.Gosched() }
	m, _ := nearManager(t, s.fakeServer)
	c := xcache.KeyCacheOf[string, int64](m)
	for i := range stressKeys {
		s.write(t, c, i) // deliver has not started; the queue has room
	}
	go s.deliver()

	ctx, cancel := context.WithTimeout(t.Context(), stressTime)
	defer cancel()
	var all sync.WaitGroup
	loop := func(step func(i int)) {
		all.Go(func() {
			for ctx.Err() == nil {
				step(rand.N(stressKeys))
			}
		})
	}
	for range stressReaders {
		loop(func(i int) { s.read(t, c, i) })
		loop(func(int) { s.readAll(t, c) })
	}
	loop(func(i int) { s.write(t, c, i/2*2) })     // even keys in this process
	loop(func(i int) { s.write(t, nil, i/2*2+1) }) // odd keys in the other process
	loop(func(i int) {
		for range 100 {
			runtime.Gosched()
		}
		s.outage(i%2 == 0)
	})
	all.Wait()
	s.pending.Wait()
	close(s.queue)
	reads, trips := s.reads.Load(), s.trips.Load()
	t.Logf("%d reads, %d round trips", reads, trips)
	if trips > reads {
		t.Error("no hit: the test is inconclusive")
	}
}

// outage loses changes for a moment, followed by a new watch or an invalidation of all
// keys.
func (s *stress) outage(connect bool) {
	s.mu.Lock()
	s.up = false
	s.mu.Unlock()
	runtime.Gosched()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.up = true
	s.send(change{connect: connect})
}
