package xcache_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/plinthgo/plinth/core/major/xcache"
)

// UserCache declares the methods of a view that the application uses.
type UserCache interface {
	Get(ctx context.Context, id int64) (*User, bool, error)
}

var _ UserCache = (*xcache.KeyCache[int64, User])(nil)

// Greeter is application code. Its Users is xcache.KeyCacheOf[int64, User](manager).
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

// failingUsers is a cache that is unavailable.
type failingUsers struct{}

func (failingUsers) Get(context.Context, int64) (*User, bool, error) {
	return nil, false, errors.New("cache is down")
}

// A test can replace a view if the application depends on an interface with the methods
// that it uses.
func ExampleKeyCache_substitute() {
	fmt.Println(Greeter{Users: failingUsers{}}.Greet(context.Background(), 7))
	// Output: Hello, and sorry
}
