// Package feed publishes new users to watchers in the same process. Replicas that share a
// database need a message broker instead.
package feed

import (
	"context"
	"sync"

	"github.com/plinthgo/plinth/core/common/xctxutil"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/examples/grpc/internal/entity"
)

// Key is the context key of the feed.
const Key xctx.ContextKey = "user_feed"

// backlog is the buffer size of a watcher's channel.
const backlog = 64

// Feed is a list of watchers. It is safe for concurrent use. The zero value is ready to
// use.
type Feed struct {
	mu       sync.Mutex
	watchers map[chan *entity.User]struct{}
}

// Start creates the feed node of the application.
func Start(context.Context) (any, error) { return new(Feed), nil }

// From returns the feed in ctx.
func From(ctx context.Context) *Feed { return xctxutil.MustGet[*Feed](ctx, Key) }

// Watch returns a channel of newly published users. The caller must call stop when it no
// longer receives from the channel. The channel is closed if its buffer is full, so a
// slow watcher does not block Publish.
func (f *Feed) Watch() (users <-chan *entity.User, stop func()) {
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

// Publish sends a user to all watchers. The caller must not modify user afterwards.
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
