package feed_test

import (
	"testing"

	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/major/xmodels"
	"github.com/plinthgo/plinth/examples/grpc/internal/entity"
	"github.com/plinthgo/plinth/examples/grpc/internal/feed"
)

func one(id int) *entity.User {
	return &entity.User{BaseEntity: xmodels.BaseEntity{ID: xsnowflake.SnowflakeID(id)}}
}

func TestFeed_Watch(t *testing.T) {
	t.Parallel()

	t.Run("drops a slow watcher", func(t *testing.T) {
		t.Parallel()
		var f feed.Feed
		slow, leave := f.Watch()
		defer leave()
		const many = 1000
		fast, leaveToo := f.Watch()
		defer leaveToo()
		for i := range many {
			f.Publish(one(i))
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

	t.Run("sends nothing after leave", func(t *testing.T) {
		t.Parallel()
		var f feed.Feed
		users, leave := f.Watch()
		f.Publish(one(1))
		leave()
		leave()
		f.Publish(one(2))
		if got := <-users; got.ID != 1 || len(users) != 0 {
			t.Errorf("user %d and %d more", got.ID, len(users))
		}
	})
}
