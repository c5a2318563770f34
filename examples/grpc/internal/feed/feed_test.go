package feed_test

import (
	"testing"

	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/major/xmodels"
	"github.com/plinthgo/plinth/examples/grpc/internal/entity"
	"github.com/plinthgo/plinth/examples/grpc/internal/feed"
)

func userWithID(id int) *entity.User {
	return &entity.User{BaseEntity: xmodels.BaseEntity{ID: xsnowflake.SnowflakeID(id)}}
}

func TestFeed_Watch(t *testing.T) {
	t.Parallel()

	t.Run("closes the channel of a slow watcher", func(t *testing.T) {
		t.Parallel()
		var f feed.Feed
		slow, stop := f.Watch()
		defer stop()
		const many = 1000
		fast, stopFast := f.Watch()
		defer stopFast()
		for i := range many {
			f.Publish(userWithID(i))
			if got := <-fast; got.ID != xsnowflake.SnowflakeID(i) {
				t.Fatalf("user %d was received as %d", i, got.ID)
			}
		}
		n := 0
		for range slow { // until it is closed
			n++
		}
		if n == 0 || n >= many {
			t.Errorf("the slow watcher received %d users", n)
		}
	})

	t.Run("sends no user after stop", func(t *testing.T) {
		t.Parallel()
		var f feed.Feed
		users, stop := f.Watch()
		f.Publish(userWithID(1))
		stop()
		stop()
		f.Publish(userWithID(2))
		if got := <-users; got.ID != 1 || len(users) != 0 {
			t.Errorf("received user %d and %d more users, want only user 1", got.ID, len(users))
		}
	})
}
