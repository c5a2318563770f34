package xoptcache_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xcache"
	"github.com/plinthgo/plinth/core/major/xcache/driver"
	"github.com/plinthgo/plinth/core/major/xoption/xoptcache"
)

// fake is a driver that keeps the settings it was given.
type fake struct {
	name   string
	got    *driver.Config
	check  error
	opened *bool
}

func (f fake) Name() string { return f.name }

func (f fake) Check(driver.Config) error { return f.check }

func (f fake) Open(_ context.Context, c driver.Config) (driver.Store, error) {
	*f.got, *f.opened = c, true
	return fakeStore{c: c}, nil
}

// fakeStore is a store that only opens and closes.
type fakeStore struct {
	driver.Store
	c driver.Config
}

func (fakeStore) Ping(context.Context) error { return nil }
func (fakeStore) Close() error               { return nil }

func (s fakeStore) DefaultTTL() time.Duration { return s.c.Memory.DefaultTTL }

// Set reports through an error what the manager made of a write.
func (fakeStore) Set(_ context.Context, key string, _ []byte, w driver.Write) (bool, error) {
	return false, fmt.Errorf("%s for %s", key, w.TTL)
}

// setup returns a registry with a fake in it.
func setup(t *testing.T, name string, check error) (option xoptcache.Option, got *driver.Config, opened *bool) {
	t.Helper()
	f := fake{name: name, got: &driver.Config{}, check: check, opened: new(bool)}
	r := &xcache.Registry{}
	r.Register(f)
	return xoptcache.WithRegistry(r), f.got, f.opened
}

func build(t *testing.T, opts ...xoptcache.Option) *xoptcache.Config {
	t.Helper()
	c, err := xoptcache.Build(opts...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestWithoutADriverThereIsNoCache(t *testing.T) {
	for name, value := range map[string]string{"unset": "", "none": "none"} {
		t.Setenv(string(xenv.NoSqlDriver), value)
		c := build(t, xoptcache.FromEnv())
		if c.Enabled() {
			t.Errorf("%s: Enabled = true, want false", name)
		}
		if err := c.Check(t.Context()); err != nil {
			t.Errorf("%s: Check = %v, want nil", name, err)
		}
	}
	if build(t).Enabled() {
		t.Error("no option at all: Enabled = true, want false")
	}
}

func TestTheEnvironmentIsReadWhenTheOptionRuns(t *testing.T) {
	registry, got, opened := setup(t, "redis", nil)
	option := xoptcache.FromEnv() // before the variables are there, as before .env is loaded
	for key, value := range map[xenv.EnvKey]string{
		xenv.NoSqlDriver: "redis", xenv.NoSqlHost: "cache.example", xenv.NoSqlPort: "6380", xenv.NoSqlUser: "app",
		xenv.NoSqlPass: "secret", xenv.NoSqlDatabase: "3", xenv.NoSqlPoolSize: "5", xenv.NoSqlPrefix: "p:",
		xenv.NoSqlMemoryDefaultTTL: "90", xenv.NoSqlMemoryMaxEntries: "7", xenv.NoSqlMemoryShardCount: "2",
	} {
		t.Setenv(string(key), value)
	}
	c := build(t, option, registry)
	if !c.Enabled() || c.Driver() != "redis" {
		t.Fatalf("Enabled = %t with driver %q, want redis", c.Enabled(), c.Driver())
	}
	if err := c.Check(t.Context()); err != nil || *opened {
		t.Fatalf("Check = %v, opened = %t; want nothing opened", err, *opened)
	}
	m, err := c.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got.Host != "cache.example" || got.Port != 6380 || got.User != "app" || got.Pass != "secret" || got.Database != 3 ||
		got.PoolSize != 5 || got.Memory != (driver.Memory{DefaultTTL: 90 * time.Second, MaxEntries: 7, ShardCount: 2}) {
		t.Errorf("settings = %+v, want those of the environment", *got)
	}
	if err := xcache.KeyCacheOf[string, int](m).Set(t.Context(), "k", new(int)); err == nil || !strings.Contains(err.Error(), "p:k for 1m30s") {
		t.Errorf("Set = %v, want the prefix and the default life of the environment", err)
	}
}

func TestALaterOptionWins(t *testing.T) {
	registry, got, _ := setup(t, "other", nil)
	t.Setenv(string(xenv.NoSqlDriver), "memory")
	t.Setenv(string(xenv.NoSqlPrefix), "env:")
	t.Setenv(string(xenv.NoSqlMemoryDefaultTTL), "90")
	now := func() time.Time { return time.Unix(0, 0) }
	c := build(t, xoptcache.FromEnv(), xoptcache.WithDriver("other"), xoptcache.WithPrefix("mine:"), registry,
		xoptcache.WithDefaultTTL(time.Hour), xoptcache.WithMaxEntries(5), xoptcache.WithClock(now), xoptcache.WithFailOpen(),
		xoptcache.WithConnectTimeout(time.Second), xoptcache.WithTTLJitter(0))
	m, err := c.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got.Memory.MaxEntries != 5 || got.Now == nil {
		t.Errorf("settings = %+v, want those of the options", *got)
	}
	if err := xcache.KeyCacheOf[string, int](m).Set(t.Context(), "k", new(int)); err == nil || !strings.Contains(err.Error(), "mine:k for 1h0m0s") {
		t.Errorf("Set = %v, want the prefix and the life of the options", err)
	}
}

func TestCheckReportsEveryProblemAtOnce(t *testing.T) {
	problem := errors.New("the port is odd")
	registry, _, opened := setup(t, "memory", problem)
	c := build(t, registry, xoptcache.WithDriver("memory"), xoptcache.WithDefaultTTL(-1), xoptcache.WithTTLJitter(7),
		xoptcache.WithCodec(nil), xoptcache.WithConnectTimeout(-1))
	err := c.Check(t.Context())
	if !errors.Is(err, problem) {
		t.Errorf("Check = %v, want the driver's problem in it", err)
	}
	for _, want := range []string{"default TTL", "jitter", "codec", "connect timeout"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Check = %v, want %q in it", err, want)
		}
	}
	if _, err := c.Open(t.Context()); err == nil || *opened {
		t.Errorf("Open = %v, opened = %t; want the problems and nothing opened", err, *opened)
	}
}

func TestAnUnknownDriverIsNamedWithItsImport(t *testing.T) {
	registry, _, _ := setup(t, "memory", nil)
	err := build(t, registry, xoptcache.WithDriver("redis")).Check(t.Context())
	if !errors.Is(err, xcache.ErrUnknownDriver) || !strings.Contains(err.Error(), "cacheplugins/redis") {
		t.Errorf("Check = %v, want ErrUnknownDriver with the import", err)
	}
}

func TestANilOptionIsRefused(t *testing.T) {
	if _, err := xoptcache.Build(xoptcache.WithPrefix("a"), nil); err == nil || !strings.Contains(err.Error(), "option 2") {
		t.Errorf("Build = %v, want an error that names option 2", err)
	}
}

func ExampleBuild() {
	c, err := xoptcache.Build(xoptcache.WithDriver("none"), xoptcache.WithDefaultTTL(time.Hour))
	fmt.Println(c.Enabled(), err)
	// Output: false <nil>
}

func TestTheVariablesOfAServerAreReadOnlyWhereTheyAreSet(t *testing.T) {
	registry, got, _ := setup(t, "redis", nil)
	t.Setenv(string(xenv.NoSqlDriver), "redis")
	if _, err := build(t, xoptcache.FromEnv(), registry).Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got.URL != "" || got.Mode != "" || got.Master != "" || got.SentinelUser != "" || got.SentinelPass != "" || got.TLS != "" || got.TLSCA != "" {
		t.Errorf("settings = %+v, want none that nobody has chosen", *got)
	}
	for key, value := range map[xenv.EnvKey]string{
		xenv.NoSqlURL: "redis://cache.example", xenv.NoSqlMode: "sentinel", xenv.NoSqlMaster: "main", xenv.NoSqlSentinelUser: "watch",
		xenv.NoSqlSentinelPass: "secret", xenv.NoSqlTLS: "verify-full", xenv.NoSqlTLSCA: "ca.pem",
	} {
		t.Setenv(string(key), value)
	}
	if _, err := build(t, xoptcache.FromEnv(), registry).Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got.URL != "redis://cache.example" || got.Mode != driver.ModeSentinel || got.Master != "main" || got.SentinelUser != "watch" ||
		got.SentinelPass != "secret" || got.TLS != "verify-full" || got.TLSCA != "ca.pem" {
		t.Errorf("settings = %+v, want those of the environment", *got)
	}
}

// A store without driver.Invalidator refuses a near cache at Open: so the test sees who asks for one.
func TestANearCacheIsAskedForByAnOptionOrAVariable(t *testing.T) {
	registry := func() xoptcache.Option {
		r := &xcache.Registry{}
		for _, name := range []string{"redis", "memory"} {
			r.Register(fake{name: name, got: &driver.Config{}, opened: new(bool)})
		}
		return xoptcache.WithRegistry(r)
	}
	for _, tc := range []struct {
		name    string
		entries string
		ttl     string
		option  xoptcache.Option
		want    string // in the error of Check or Open
	}{
		{"nothing", "", "", nil, ""},
		{"no entries", "0", "5s", nil, ""},
		{"a variable", "10", "", nil, "near cache"},
		{"an option", "", "", xoptcache.WithNear(10, time.Second), "near cache"},
		{"an option without a life", "", "", xoptcache.WithNear(10, 0), "near cache: TTL 0s"},
		{"an option against a variable", "10", "", xoptcache.WithNear(0, 0), ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Setenv(string(xenv.NoSqlDriver), "redis")
			t.Setenv(string(xenv.NoSqlNearMaxEntries), tc.entries)
			t.Setenv(string(xenv.NoSqlNearTTL), tc.ttl)
			opts := []xoptcache.Option{registry(), xoptcache.FromEnv()}
			if tc.option != nil {
				opts = append(opts, tc.option)
			}
			_, err := build(t, opts...).Open(t.Context())
			if (tc.want == "") != (err == nil) || (err != nil && !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("Open = %v, want %q", err, tc.want)
			}
		})
	}
}
