package memory_test

import (
	"context"
	"fmt"
	"time"

	_ "github.com/plinthgo/plinth/cacheplugins/memory"
	"github.com/plinthgo/plinth/core/major/xcache"
)

func Example() {
	ctx := context.Background()
	m, err := xcache.Open(ctx, xcache.Options{Driver: "memory"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer m.Close() //nolint:errcheck // nothing to do about it in an example

	visits := xcache.KeyCacheOf[string, int](m, xcache.WithKeyPrefix("visits:"))
	n := 3
	_ = visits.Set(ctx, "home", &n, xcache.WithTTL(time.Minute))
	got, found, err := visits.Get(ctx, "home")
	fmt.Println(*got, found, err)
	// Output: 3 true <nil>
}
