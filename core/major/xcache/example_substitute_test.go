package xcache_test

import (
	"context"
	"errors"
	"fmt"
)

// Users is the part of xcache.KeyCache[int64, User] that the Greeter needs.
type Users interface {
	Get(ctx context.Context, id int64) (*User, bool, error)
}

// Greeter is an application's code. Its Users is xcache.KeyCacheOf[int64, User](manager).
type Greeter struct{ Users Users }

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

// An application's test substitutes a view.
func ExampleKeyCache_substitute() {
	fmt.Println(Greeter{Users: failingUsers{}}.Greet(context.Background(), 7))
	// Output: Hello, and sorry
}
