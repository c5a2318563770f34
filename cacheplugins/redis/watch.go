package redis

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/plinthgo/plinth/core/common/xretry"
	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// Timing of a watch.
//
// Every heartbeat the watch pings the server. The connection is broken if no pong arrives
// before the next ping. The pong follows all invalidations that the server sent before,
// so it is also late if the watcher cannot keep up. A broken connection is detected two
// heartbeats after its last pong; the rest of the staleness is a margin for busy
// machines. The masters are checked every heartbeat too.
const (
	heartbeat = 800 * time.Millisecond
	staleness = 2 * time.Second
)

// A broken watch is reopened after a pause, which doubles up to maxPause. The pause is
// reset if the watch has been up for stableTime.
const (
	minPause   = 20 * time.Millisecond
	maxPause   = 2 * time.Second
	stableTime = 10 * time.Second
)

// openTimeout is the timeout of an attempt to connect to all servers.
const openTimeout = 3 * time.Second

// Staleness implements driver.Invalidator.
func (*store) Staleness() time.Duration { return staleness }

// Watch implements driver.Invalidator with client tracking in broadcast mode. The server
// reports every key under prefix that is written or removed by any client, in any
// database, and every key that expires or is evicted.
//
// There is one connection to the server or, in a cluster, to each master. With Sentinel,
// the watch is up only while all responding sentinels agree on the master. The error
// wraps driver.ErrConfig if the server does not support tracking or the user lacks a
// permission.
func (s *store) Watch(ctx context.Context, prefix string, w driver.Watcher) error {
	v := &watch{prefix: prefix, w: w, options: *s.options}
	ctx, err := s.watches.start(ctx, v)
	if err != nil {
		return err
	}
	v.servers = serversOf(s)
	end := func() {
		v.servers.close()
		s.watches.end(v)
	}
	first, err := v.open(ctx)
	ctxErr := ctx.Err()
	if ctxErr == nil && !errors.Is(err, driver.ErrConfig) {
		go func() {
			defer end()
			v.run(ctx, first)
		}()
		return nil
	}
	defer end()
	first.close()
	if ctxErr != nil {
		err = s.failed(ctx, ctxErr)
	}
	return err
}

// run watches until ctx is done. first may be nil.
func (v *watch) run(ctx context.Context, first *session) {
	pause, reported := xretry.Backoff{First: minPause, Max: maxPause}, false
	for s := first; ; s = nil {
		var err error
		if s == nil {
			s, err = v.open(ctx)
		}
		if s != nil {
			started := time.Now()
			v.follow(ctx, s)
			if time.Since(started) > stableTime {
				pause.Reset()
			}
		}
		if errors.Is(err, driver.ErrConfig) && !reported {
			reported = true
			log.Error(ctx, "cache invalidation not available", slog.Any("error", err))
		}
		if xretry.Sleep(ctx, pause.Next()) != nil {
			return
		}
	}
}

// watches contains the running watches of a store. The zero value is ready to use.
type watches struct {
	mu      sync.Mutex
	closed  bool
	stop    map[*watch]context.CancelFunc
	running sync.WaitGroup
}

// start returns a context that is also canceled when the store closes. The caller must
// call end.
func (all *watches) start(ctx context.Context, v *watch) (context.Context, error) {
	all.mu.Lock()
	defer all.mu.Unlock()
	if all.closed {
		return nil, driver.ErrClosed
	}
	ctx, stop := context.WithCancel(ctx)
	if all.stop == nil {
		all.stop = map[*watch]context.CancelFunc{}
	}
	all.stop[v] = stop
	all.running.Add(1)
	return ctx, nil
}

func (all *watches) end(v *watch) {
	all.mu.Lock()
	defer all.mu.Unlock()
	all.stop[v]()
	delete(all.stop, v)
	all.running.Done()
}

// close stops all watches and waits for them.
func (all *watches) close() {
	all.mu.Lock()
	all.closed = true
	for _, stop := range all.stop {
		stop()
	}
	all.mu.Unlock()
	all.running.Wait()
}
