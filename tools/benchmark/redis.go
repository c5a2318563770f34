package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/maypok86/otter/v2"
	goredis "github.com/redis/go-redis/v9"

	_ "github.com/plinthgo/plinth/cacheplugins/redis"
	"github.com/plinthgo/plinth/core/major/xcache"
	"github.com/plinthgo/plinth/core/major/xcache/driver"
	"github.com/plinthgo/plinth/tools/devstack/server"
)

// batch is the number of keys of one GetMany.
const batch = 100

// redisCaches contains both sides of the comparisons on Redis.
type redisCaches struct {
	bare  *goredis.Client
	typed *xcache.KeyCache[string, account]
	near  *xcache.KeyCache[string, account]
	keys  []string
}

// redises compares the typed view with its client, on one local server. It returns nil if
// there is no server.
func redises() []comparison {
	ctx := context.Background()
	address, err := serverOf(ctx, "redis", "PLINTH_TEST_REDIS_URL")
	if err != nil {
		fmt.Fprintln(os.Stderr, "benchmark: skip redis:", err)
		return nil
	}
	c := openRedis(ctx, address)
	one := c.keys[0]
	value := account{ID: 1, Name: "Ada"}
	engine := otter.Must(&otter.Options[string, account]{
		MaximumSize:      2 * batch,
		ExpiryCalculator: otter.ExpiryWriting[string, account](time.Hour),
	})
	engine.Set(one, value)
	return []comparison{
		{
			name: "typed get", peer: "go-redis and encoding/json", target: 1.05, allocs: -1,
			ours:   benchCall(func() error { return got(c.typed.Get(ctx, one)) }),
			theirs: benchCall(func() error { return c.bareGet(ctx, one) }),
		},
		{
			name: "typed set", peer: "go-redis and encoding/json", target: 1.05, allocs: -1,
			ours: benchCall(func() error {
				return c.typed.Set(ctx, one, &value, xcache.WithTTL(time.Hour))
			}),
			theirs: benchCall(func() error { return c.bareSet(ctx, one, value) }),
		},
		{
			name: "GetMany of 100", peer: "MGET and encoding/json", target: 1.15, allocs: -1,
			ours:   benchCall(func() error { return c.getMany(ctx) }),
			theirs: benchCall(func() error { return c.bareMany(ctx) }),
		},
		{
			name: "GetMany of 100", peer: "100 gets", allocs: -1,
			ours:   benchCall(func() error { return c.getMany(ctx) }),
			theirs: benchCall(func() error { return c.getEach(ctx) }),
		},
		{
			name: "get from the near cache", peer: "otter", allocs: 1,
			ours: benchCall(func() error { return got(c.near.Get(ctx, one)) }),
			theirs: benchCall(func() error {
				v, ok := engine.GetIfPresent(one)
				return got(&v, ok, nil)
			}),
		},
		{
			name: "get from the near cache", peer: "go-redis and encoding/json", allocs: 1,
			ours:   benchCall(func() error { return got(c.near.Get(ctx, one)) }),
			theirs: benchCall(func() error { return c.bareGet(ctx, one) }),
		},
	}
}

// serverOf returns the DSN in the environment variable, or else starts a private server
// of the kind.
func serverOf(ctx context.Context, name, variable string) (dsn string, err error) {
	if dsn := os.Getenv(variable); dsn != "" {
		return dsn, nil
	}
	kind, _ := server.ByName(name)
	group, err := server.NewGroup(ctx)
	if err != nil {
		return "", err
	}
	atExit(func() { _ = group.Close(ctx) })
	s, err := group.Start(ctx, kind)
	if err != nil {
		return "", err
	}
	return s.DSN(), nil
}

// openRedis opens both sides and writes the keys.
func openRedis(ctx context.Context, address string) *redisCaches {
	bare := goredis.NewClient(must(goredis.ParseURL(address)))
	atExit(func() { _ = bare.Close() })
	open := func(nearMaxEntries int) *xcache.Manager {
		m := must(xcache.Open(ctx, xcache.Options{
			Driver: "redis", Config: driver.Config{URL: address},
			NearMaxEntries: nearMaxEntries, NearTTL: time.Hour,
		}))
		atExit(func() { _ = m.Close() })
		return m
	}
	c := &redisCaches{
		bare:  bare,
		typed: xcache.KeyCacheOf[string, account](open(0)),
		near:  xcache.KeyCacheOf[string, account](open(2 * batch)),
	}
	for i := range batch {
		key := "plinth-benchmark:" + strconv.Itoa(i)
		c.keys = append(c.keys, key)
		value := &account{ID: int64(i), Name: "Ada"}
		if err := c.typed.Set(ctx, key, value, xcache.WithTTL(time.Hour)); err != nil {
			panic(err)
		}
	}
	return c
}

func (c *redisCaches) bareGet(ctx context.Context, key string) error {
	data, err := c.bare.Get(ctx, key).Bytes()
	if err != nil {
		return err
	}
	var v account
	err = json.Unmarshal(data, &v)
	return firstError(err, got(&v, true, nil))
}

func (c *redisCaches) bareSet(ctx context.Context, key string, v account) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return c.bare.Set(ctx, key, data, time.Hour).Err()
}

func (c *redisCaches) bareMany(ctx context.Context) error {
	values, err := c.bare.MGet(ctx, c.keys...).Result()
	if err != nil {
		return err
	}
	out := make(map[string]account, len(values))
	for i, value := range values {
		text, _ := value.(string)
		var v account
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			return err
		}
		out[c.keys[i]] = v
	}
	return complete(out)
}

func (c *redisCaches) getMany(ctx context.Context) error {
	out, err := c.typed.GetMany(ctx, c.keys)
	return firstError(err, complete(out))
}

func (c *redisCaches) getEach(ctx context.Context) error {
	for _, key := range c.keys {
		if err := got(c.typed.Get(ctx, key)); err != nil {
			return err
		}
	}
	return nil
}

func complete(values map[string]account) error {
	if len(values) != batch {
		return fmt.Errorf("got %d values, want %d", len(values), batch)
	}
	return nil
}

// got returns an error unless a read found the value.
func got(v *account, ok bool, err error) error {
	if err == nil && (!ok || v.Name == "") {
		return fmt.Errorf("value not found: %v, %t", v, ok)
	}
	return err
}

// redisCPU returns the CPU time of this process for a typed call, relative to the client.
func redisCPU() (string, error) {
	all := redises()
	if len(all) == 0 {
		return "skipped", nil
	}
	get, set := all[0], all[1]
	return fmt.Sprintf("get %.2f, set %.2f of go-redis and encoding/json",
		cpuRatio(get), cpuRatio(set)), nil
}
