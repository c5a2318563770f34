package redis

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// watch reports the changes of the keys under a prefix to one watcher.
type watch struct {
	prefix  string
	w       driver.Watcher
	options redis.UniversalOptions
	servers servers
}

// session is a watch until a connection breaks or the masters change.
type session struct {
	feeds []*feed
}

// open connects to all masters.
func (v *watch) open(ctx context.Context) (*session, error) {
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	addresses, err := v.servers.masters(ctx)
	if err != nil {
		return nil, err
	}
	s := &session{feeds: make([]*feed, len(addresses))}
	err = together(len(addresses), func(i int) (err error) {
		s.feeds[i], err = v.dial(ctx, addresses[i])
		return err
	})
	if err == nil {
		err = v.servers.check(ctx, s.feeds)
	}
	if err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// follow reports invalidations until a server stops responding, the masters change, or
// ctx is done.
func (v *watch) follow(ctx context.Context, s *session) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var notify sync.Mutex // serializes calls of the watcher
	invalidate := func(keys []string) {
		notify.Lock()
		defer notify.Unlock()
		if ctx.Err() == nil {
			v.w.Invalidate(keys)
		}
	}
	v.w.Connected()
	var parts sync.WaitGroup
	run := func(do func()) {
		parts.Go(func() {
			defer stop()
			do()
		})
	}
	for _, f := range s.feeds {
		run(func() { f.read(ctx, invalidate) })
		run(func() { f.sendPings(ctx) })
	}
	run(func() { v.guard(ctx, s.feeds) })
	<-ctx.Done()
	notify.Lock()
	v.w.Disconnected()
	notify.Unlock()
	s.close()
	parts.Wait()
}

// guard returns when the masters change or cannot be determined.
func (v *watch) guard(ctx context.Context, feeds []*feed) {
	tick := time.NewTicker(heartbeat)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		limited, cancel := context.WithTimeout(ctx, heartbeat)
		err := v.servers.check(limited, feeds)
		cancel()
		if err != nil {
			return
		}
	}
}

// close closes the connections. It does nothing on a nil session.
func (s *session) close() {
	if s == nil {
		return
	}
	for _, f := range s.feeds {
		f.close()
	}
}

// together calls do with 0 to n-1 concurrently and returns one of the errors.
func together(n int, do func(i int) error) error {
	problems := make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { problems[i] = do(i) })
	}
	all.Wait()
	return cmp.Or(problems...)
}
