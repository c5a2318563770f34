package xcache_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/plinthgo/plinth/core/major/xcache"
)

// UserCache has the methods of a view that the application's code calls.
type UserCache interface {
	Get(ctx context.Context, id int64) (*User, bool, error)
}

var _ UserCache = (*xcache.KeyCache[int64, User])(nil)

// Greeter is an application's code. Its Users is xcache.KeyCacheOf[int64, User](manager).
type Greeter struct{ Users UserCache }

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

// failingUsers replaces a cache that is unavailable.
type failingUsers struct{}

func (failingUsers) Get(context.Context, int64) (*User, bool, error) {
	return nil, false, errors.New("cache is down")
}

// An application's test substitutes a view: its code depends on an interface with the
// methods that it calls.
func ExampleKeyCache_substitute() {
	fmt.Println(Greeter{Users: failingUsers{}}.Greet(context.Background(), 7))
	// Output: Hello, and sorry
}
