package redis_test

import (
	"context"
	"fmt"

	"github.com/plinthgo/plinth/cacheplugins/redis"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xcache"
	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// ExampleDriver validates settings without connecting.
func ExampleDriver() {
	options := xcache.Options{Driver: redis.Name, Config: driver.Config{
		Host: "a.example.com,b.example.com:26380", Port: 26379,
		User: "app", Pass: "p@ss/word", TLS: driver.TLSVerifyFull,
		Source: xenv.Map{"NOSQL_MODE": "sentinel", "NOSQL_MASTER": "orders"},
	}}
	_, err := xcache.Resolve(options)
	fmt.Println(err)

	options.Config = driver.Config{URL: "redis+cluster://app:p%40ss@a.example.com,b.example.com"}
	_, err = xcache.Resolve(options)
	fmt.Println(err)

	options.Config = driver.Config{
		Host: "a.example.com:0", Database: 3,
		Source: xenv.Map{"NOSQL_MODE": "cluster"},
	}
	_, err = xcache.Resolve(options)
	fmt.Println(err)
	// Output:
	// <nil>
	// <nil>
	// xcache: configure redis: NOSQL_DATABASE: "3" is not supported in a cluster (accepted: 0)
	// NOSQL_HOST: "a.example.com:0" is not a valid host (accepted: a name or an address, optionally with a port; several separated by commas)
}

// ExampleGetRDB handles a context without a client.
func ExampleGetRDB() {
	_, err := redis.GetRDB(context.Background())
	fmt.Println(err.Error())
	// Output:
	// CONFIG_ERROR: xctxutil: the context has no Redis client: pass xoption.WithCache to xreg.Register with NOSQL_DRIVER=redis, and use an application or request context
}
