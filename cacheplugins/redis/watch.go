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

// The bounds of a watch.
//
// A connection is asked for a sign of life every beat, and is dead when there was none
// until the next one. The sign comes after all invalidations that the server sent before,
// so one that is late also tells of a watcher that cannot keep up. Two beats after its
// last sign a dead connection is known as such; the rest of the staleness is for a busy
// machine. Who the masters are is asked as often.
const (
	beat      = 800 * time.Millisecond
	staleness = 2 * time.Second
)

// A broken watch begins again after a pause, which doubles up to maxPause unless it had
// lasted for settled.
const (
	minPause = 20 * time.Millisecond
	maxPause = 2 * time.Second
	settled  = 10 * time.Second
)

// openTimeout bounds an attempt to connect to all servers.
const openTimeout = 3 * time.Second

// Staleness implements driver.Invalidator.
func (*store) Staleness() time.Duration { return staleness }

// Watch implements driver.Invalidator by the server's tracking in broadcast mode: the
// server tells of every key under prefix that anyone writes or removes, in any of its
// databases, or that it removes because it has expired or there is no room.
//
// There is one connection to the server; in a cluster, one to each master. Servers that
// sentinels watch are watched as long as all sentinels that answer name the same master.
// The error wraps driver.ErrConfig where a server does not track, or refuses to do it for
// this user.
func (s *store) Watch(ctx context.Context, prefix string, w driver.Watcher) error {
	v := &watch{prefix: prefix, w: w, options: *s.options}
	ctx, err := s.watches.begin(ctx, v)
	if err != nil {
		return err
	}
	v.servers = serversOf(s)
	end := func() {
		v.servers.close()
		s.watches.end(v)
	}
	first, err := v.open(ctx)
	ended := ctx.Err()
	if ended == nil && !errors.Is(err, driver.ErrConfig) {
		go func() {
			defer end()
			v.run(ctx, first)
		}()
		return nil
	}
	defer end()
	first.close()
	if ended != nil {
		err = s.failed(ctx, ended)
	}
	return err
}

// run watches until ctx ends. first may be nil.
func (v *watch) run(ctx context.Context, first *session) {
	pause, told := xretry.Backoff{First: minPause, Max: maxPause}, false
	for open := first; ; open = nil {
		var err error
		if open == nil {
			open, err = v.open(ctx)
		}
		if open != nil {
			began := time.Now()
			v.follow(ctx, open)
			if time.Since(began) > settled {
				pause.Reset()
			}
		}
		if errors.Is(err, driver.ErrConfig) && !told {
			told = true
			log.Error(ctx, "no invalidation by the server", slog.Any("error", err))
		}
		if xretry.Sleep(ctx, pause.Next()) != nil {
			return
		}
	}
}

// watches are those of a store that still run. The zero value is ready to use.
type watches struct {
	mu      sync.Mutex
	closed  bool
	stop    map[*watch]context.CancelFunc
	running sync.WaitGroup
}

// begin returns a context that ends with the store too. end must follow.
func (all *watches) begin(ctx context.Context, v *watch) (context.Context, error) {
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

// close ends all and waits for them.
func (all *watches) close() {
	all.mu.Lock()
	all.closed = true
	for _, stop := range all.stop {
		stop()
	}
	all.mu.Unlock()
	all.running.Wait()
}
