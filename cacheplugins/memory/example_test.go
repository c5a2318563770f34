package memory_test

import (
	"context"
	"fmt"
	"time"

	_ "github.com/plinthgo/plinth/cacheplugins/memory"
	xCache "github.com/plinthgo/plinth/core/major/xcache"
)

func Example() {
	ctx := context.Background()
	m, err := xCache.Open(ctx, xCache.Options{Driver: "memory"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer m.Close() //nolint:errcheck // nothing to do about it in an example

	visits := xCache.KeyCacheOf[string, int](m, xCache.WithKeyPrefix("visits:"))
	n := 3
	_ = visits.Set(ctx, "home", &n, xCache.WithTTL(time.Minute))
	got, found, err := visits.Get(ctx, "home")
	fmt.Println(*got, found, err)
	// Output: 3 true <nil>
}
