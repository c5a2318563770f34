// Package feed tells those who watch of new users. It reaches the watchers of this
// process: replicas that share a database would need a broker between them.
package feed

import (
	"context"
	"sync"

	"github.com/plinthgo/plinth/core/common/xctxutil"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/examples/grpc/internal/entity"
)

// Key is where the application's context holds its feed.
const Key xctx.ContextKey = "user_feed"

// backlog is how many users a watcher may be behind.
const backlog = 64

// Feed is a list of watchers. It is safe for concurrent use, and the zero value is ready.
type Feed struct {
	mu       sync.Mutex
	watchers map[chan *entity.User]struct{}
}

// Start is the application's node.
func Start(context.Context) (any, error) { return new(Feed), nil }

// From returns the feed of the application that ctx belongs to.
func From(ctx context.Context) *Feed { return xctxutil.MustGet[*Feed](ctx, Key) }

// Watch returns a channel of the users who are published from now on, until leave is
// called. It is closed when the watcher is further behind than the backlog: nobody waits
// for him.
func (f *Feed) Watch() (users <-chan *entity.User, leave func()) {
	c := make(chan *entity.User, backlog)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.watchers == nil {
		f.watchers = map[chan *entity.User]struct{}{}
	}
	f.watchers[c] = struct{}{}
	return c, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.watchers, c)
	}
}

// Publish tells all watchers of a user, whom nobody changes any more.
func (f *Feed) Publish(user *entity.User) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for c := range f.watchers {
		select {
		case c <- user:
		default:
			close(c)
			delete(f.watchers, c)
		}
	}
}
