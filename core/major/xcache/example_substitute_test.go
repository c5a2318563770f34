package xcache_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/plinthgo/plinth/core/major/xcache"
)

// Greeter is an application's code. Its Users is xcache.KeyCacheOf[int64, User](manager).
type Greeter struct{ Users xcache.KeyView[int64, User] }

func (g Greeter) Greet(ctx context.Context, id int64) string {
	user, ok, err := g.Users.Get(ctx, id)
	switch {
	case err != nil:
		return "Hello, and sorry"
	case !ok:
		return "Hello"
	default:
		return "Hello, " + user.Name
	}
}

// failingUsers replaces a cache that is unavailable. A test needs no other method.
type failingUsers struct{ xcache.KeyView[int64, User] }

func (failingUsers) Get(context.Context, int64) (*User, bool, error) {
	return nil, false, errors.New("cache is down")
}

// An application's test substitutes a view.
func ExampleKeyView() {
	fmt.Println(Greeter{Users: failingUsers{}}.Greet(context.Background(), 7))
	// Output: Hello, and sorry
}
