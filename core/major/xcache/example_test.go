package xcache_test

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/major/xcache"
	"github.com/plinthgo/plinth/core/major/xcache/driver/drivertest"
)

// User is the value type of the examples.
type User struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

// application returns the context of an application with a cache.
func application() context.Context {
	m, err := xcache.New(drivertest.NewMapStore(nil), xcache.WithPrefix("app:"))
	if err != nil {
		panic(err)
	}
	return context.WithValue(context.Background(), xctx.CacheManagerKey, m)
}

func ExampleNew() {
	m, err := xcache.New(drivertest.NewMapStore(nil),
		xcache.WithPrefix("app:"), xcache.WithDefaultTTL(time.Hour))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer m.Close() //nolint:errcheck // an example ignores the error
	fmt.Println(m.CheckHealth(context.Background()))
	// Output: <nil>
}

func ExampleKeyCacheOf() {
	ctx := application()
	users := xcache.KeyCacheOf[int64, User](xcache.MustGetManager(ctx), xcache.WithName("user"),
		xcache.WithKeyPrefix("user:"))

	_ = users.Set(ctx, 7, &User{ID: 7, Name: "Ada"}, xcache.WithTTL(10*time.Minute))
	user, found, err := users.Get(ctx, 7)
	fmt.Println(user.Name, found, err)
	_, found, err = users.Get(ctx, 8)
	fmt.Println(found, err)
	// Output:
	// Ada true <nil>
	// false <nil>
}

func ExampleWithStored() {
	ctx := application()
	locks := xcache.KeyCacheOf[string, string](xcache.MustGetManager(ctx))
	me := "worker-1"

	for range 2 {
		var mine bool
		err := locks.Set(ctx, "report", &me,
			xcache.WithNX(), xcache.WithTTL(time.Minute), xcache.WithStored(&mine))
		fmt.Println(mine, err)
	}
	// Output:
	// true <nil>
	// false <nil>
}

func ExampleKeyCache_GetOrLoad() {
	ctx := application()
	users := xcache.KeyCacheOf[int64, User](xcache.MustGetManager(ctx),
		xcache.WithNegativeTTL(time.Minute))
	load := func(context.Context) (*User, error) {
		fmt.Println("querying the database")
		return &User{ID: 7, Name: "Ada"}, nil
	}
	for range 2 {
		user, found, err := users.GetOrLoad(ctx, 7, load, xcache.WithTTL(time.Hour))
		fmt.Println(user.Name, found, err)
	}
	// Output:
	// querying the database
	// Ada true <nil>
	// Ada true <nil>
}

func ExampleHashCacheOf() {
	type Session struct {
		User  int64   `cache:"user"`
		Theme string  `cache:"theme,omitempty"`
		Agent *string `cache:"agent"`
	}
	ctx := application()
	sessions := xcache.HashCacheOf[string, string, string, Session](xcache.MustGetManager(ctx),
		xcache.WithViewTTL(time.Hour))

	_ = sessions.SetAllStruct(ctx, "s1", &Session{User: 7, Theme: "dark"})
	theme := "light"
	_ = sessions.Set(ctx, "s1", "theme", &theme)
	session, found, err := sessions.GetAllStruct(ctx, "s1")
	fmt.Println(session.User, session.Theme, found, err)
	// Output: 7 light true <nil>
}

func ExampleSetCacheOf() {
	ctx := application()
	online := xcache.SetCacheOf[string, int64](xcache.MustGetManager(ctx))

	added, _ := online.Add(ctx, "room", []int64{7, 8, 7})
	members, err := online.Members(ctx, "room")
	slices.Sort(members)
	fmt.Println(added, members, err)
	// Output: 2 [7 8] <nil>
}

func ExampleListCacheOf() {
	ctx := application()
	recent := xcache.ListCacheOf[int64, string](xcache.MustGetManager(ctx))

	_, _ = recent.Append(ctx, 7, []string{"a", "b", "c"})
	last, err := recent.Range(ctx, 7, -2, -1)
	fmt.Println(last, err)
	// Output: [b c] <nil>
}
