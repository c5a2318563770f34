package xcache_test

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
)

// recordingDriver is a driver that records its settings.
type recordingDriver struct {
	name   string
	got    *driver.Config
	check  error
	opened *bool
}

func (f recordingDriver) Name() string { return f.name }

func (f recordingDriver) Check(driver.Config) error { return f.check }

func (f recordingDriver) Open(_ context.Context, c driver.Config) (driver.Store, error) {
	*f.got, *f.opened = c, true
	return fakeStore{c: c}, nil
}

// fakeStore implements only opening, closing and the methods below.
type fakeStore struct {
	driver.Store
	c driver.Config
}

func (fakeStore) Ping(context.Context) error { return nil }
func (fakeStore) Close() error               { return nil }

// DefaultTTL reads a variable of the driver.
func (s fakeStore) DefaultTTL() time.Duration {
	own, _ := xenv.Load[fakeVariables](s.c.Source)
	return own.DefaultTTL
}

type fakeVariables struct {
	DefaultTTL time.Duration `env:"NOSQL_FAKE_DEFAULT_TTL" unit:"1s"`
}

// Set returns the key and the TTL of the write as an error.
func (fakeStore) Set(_ context.Context, key string, _ []byte, w driver.Write) (bool, error) {
	return false, fmt.Errorf("%s for %s", key, w.TTL)
}

// setup returns a registry with a recordingDriver.
func setup(
	t *testing.T, name string, check error,
) (option xcache.ManagerOption, got *driver.Config, opened *bool) {
	t.Helper()
	f := recordingDriver{name: name, got: &driver.Config{}, check: check, opened: new(bool)}
	r := &xcache.Registry{}
	r.Register(f)
	return xcache.WithRegistry(r), f.got, f.opened
}

// openAll opens the cache that opts configure.
func openAll(t *testing.T, opts ...xcache.ManagerOption) (*xcache.Manager, error) {
	t.Helper()
	return xcache.Open(t.Context(), xcache.NewOptions(opts...))
}

func TestOptions_Enabled(t *testing.T) {
	for name, value := range map[string]string{"unset": "", "none": "none"} {
		t.Setenv(string(xenv.NoSqlDriver), value)
		if xcache.NewOptions(xcache.FromEnv()).Enabled() {
			t.Errorf("%s: Enabled = true, want false", name)
		}
	}
	if xcache.NewOptions().Enabled() {
		t.Error("no option: Enabled = true, want false")
	}
}

func TestFromEnv(t *testing.T) {
	t.Run("reads the environment when the option is applied", func(t *testing.T) {
		registry, got, opened := setup(t, "redis", nil)
		option := xcache.FromEnv() // before the variables are set
		for key, value := range map[xenv.EnvKey]string{
			xenv.NoSqlDriver: "redis", xenv.NoSqlHost: "cache.example", xenv.NoSqlPort: "6380",
			xenv.NoSqlUser: "app", xenv.NoSqlPass: "secret", xenv.NoSqlDatabase: "3",
			xenv.NoSqlPoolSize: "5", xenv.NoSqlPrefix: "p:", "NOSQL_FAKE_DEFAULT_TTL": "90",
		} {
			t.Setenv(string(key), value)
		}
		o := xcache.NewOptions(option, registry)
		if !o.Enabled() || o.Driver != "redis" {
			t.Fatalf("Enabled = %t with driver %q, want redis", o.Enabled(), o.Driver)
		}
		c, err := xcache.Resolve(o)
		if err != nil || *opened {
			t.Fatalf("Resolve = %v, opened = %t; want no store opened", err, *opened)
		}
		m, err := c.Open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got.Host != "cache.example" || got.Port != 6380 || got.User != "app" ||
			got.Pass != "secret" || got.Database != 3 || got.PoolSize != 5 {
			t.Errorf("settings = %+v, want those of the environment", *got)
		}
		if err := xcache.KeyCacheOf[string, int](m).Set(t.Context(), "k", new(int)); err == nil ||
			!strings.Contains(err.Error(), "p:k for 1m30s") {
			t.Errorf("Set = %v, want the prefix and the TTL of the environment", err)
		}
	})

	t.Run("leaves unset variables empty", func(t *testing.T) {
		registry, got, _ := setup(t, "redis", nil)
		t.Setenv(string(xenv.NoSqlDriver), "redis")
		if _, err := openAll(t, xcache.FromEnv(), registry); err != nil {
			t.Fatal(err)
		}
		if got.URL != "" || got.TLS != "" || got.TLSCA != "" {
			t.Errorf("settings = %+v, want no defaults", *got)
		}
		for key, value := range map[xenv.EnvKey]string{
			xenv.NoSqlURL: "redis://cache.example", xenv.NoSqlTLS: "verify-full",
			xenv.NoSqlTLSCA: "ca.pem",
		} {
			t.Setenv(string(key), value)
		}
		if _, err := openAll(t, xcache.FromEnv(), registry); err != nil {
			t.Fatal(err)
		}
		if got.URL != "redis://cache.example" || got.TLS != "verify-full" || got.TLSCA != "ca.pem" {
			t.Errorf("settings = %+v, want those of the environment", *got)
		}
	})
}

func TestNewOptions(t *testing.T) {
	t.Run("applies options in order", func(t *testing.T) {
		registry, got, _ := setup(t, "other", nil)
		t.Setenv(string(xenv.NoSqlDriver), "memory")
		t.Setenv(string(xenv.NoSqlPrefix), "env:")
		t.Setenv("NOSQL_FAKE_DEFAULT_TTL", "90")
		now := func() time.Time { return time.Unix(0, 0) }
		m, err := openAll(t, xcache.FromEnv(), registry, xcache.WithDriver("other"),
			xcache.WithPrefix("mine:"), xcache.WithDefaultTTL(time.Hour),
			func(o *xcache.Options) { o.Config.MaxEntries = 5 },
			func(o *xcache.Options) { o.Config.Now = now }, xcache.WithFailOpen(),
			xcache.WithConnectTimeout(time.Second), xcache.WithTTLJitter(0))
		if err != nil {
			t.Fatal(err)
		}
		if got.MaxEntries != 5 || got.Now == nil {
			t.Errorf("settings = %+v, want those of the options", *got)
		}
		if err := xcache.KeyCacheOf[string, int](m).Set(t.Context(), "k", new(int)); err == nil ||
			!strings.Contains(err.Error(), "mine:k for 1h0m0s") {
			t.Errorf("Set = %v, want the prefix and the TTL of the options", err)
		}
	})

	t.Run("skips nil options", func(t *testing.T) {
		got := xcache.NewOptions(xcache.WithPrefix("a"), nil, xcache.WithDriver("b"))
		if got.Prefix != "a" || got.Driver != "b" {
			t.Errorf("options = %+v", got)
		}
	})
}

func TestResolve_Options(t *testing.T) {
	t.Run("reports every invalid option", func(t *testing.T) {
		problem := errors.New("the port is odd")
		registry, _, opened := setup(t, "memory", problem)
		o := xcache.NewOptions(registry, xcache.WithDriver("memory"), xcache.WithDefaultTTL(-1),
			xcache.WithTTLJitter(7), xcache.WithConnectTimeout(-1))
		_, err := xcache.Resolve(o)
		if !errors.Is(err, problem) {
			t.Errorf("Resolve = %v, want the driver's problem in it", err)
		}
		for _, want := range []string{"default TTL", "jitter", "connect timeout"} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("Resolve = %v, want %q in it", err, want)
			}
		}
		if _, err := xcache.Open(t.Context(), o); err == nil || *opened {
			t.Errorf("Open = %v, opened = %t; want the errors and no store opened", err, *opened)
		}
	})

	t.Run("names the import of an unknown driver", func(t *testing.T) {
		registry, _, _ := setup(t, "memory", nil)
		_, err := xcache.Resolve(xcache.NewOptions(registry, xcache.WithDriver("redis")))
		if !errors.Is(err, xcache.ErrUnknownDriver) ||
			!strings.Contains(err.Error(), "cacheplugins/redis") {
			t.Errorf("Resolve = %v, want ErrUnknownDriver with the import", err)
		}
	})
}

// checkCounter counts calls of Check.
type checkCounter struct {
	recordingDriver
	checked *int
}

func (c checkCounter) Check(driver.Config) error { *c.checked++; return nil }

func TestOpen_AppliesOptionsOnce(t *testing.T) {
	var checked, evaluated int
	r := &xcache.Registry{}
	d := recordingDriver{name: "memory", got: &driver.Config{}, opened: new(bool)}
	r.Register(checkCounter{d, &checked})
	m, err := openAll(t, func(*xcache.Options) { evaluated++ }, xcache.WithDriver("memory"),
		xcache.WithRegistry(r))
	if err != nil {
		t.Fatal(err)
	}
	if checked != 1 || evaluated != 1 {
		t.Errorf("Check ran %d times and the option %d times, want 1", checked, evaluated)
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
}

func ExampleNewOptions() {
	o := xcache.NewOptions(xcache.WithDriver("none"), xcache.WithDefaultTTL(time.Hour))
	fmt.Println(o.Enabled(), *o.DefaultTTL)
	// Output: false 1h0m0s
}

// Open rejects a near cache for a store without driver.Invalidator, so the error shows
// whether one was configured.
func TestWithNear(t *testing.T) {
	registry := func() xcache.ManagerOption {
		r := &xcache.Registry{}
		for _, name := range []string{"redis", "memory"} {
			r.Register(recordingDriver{name: name, got: &driver.Config{}, opened: new(bool)})
		}
		return xcache.WithRegistry(r)
	}
	for _, tc := range []struct {
		name    string
		entries string
		ttl     string
		option  xcache.ManagerOption
		want    string // in the error of Resolve or Open
	}{
		{"not set", "", "", nil, ""},
		{"no entries", "0", "5s", nil, ""},
		{"variable", "10", "", nil, "near cache"},
		{"option", "", "", xcache.WithNear(10, time.Second), "near cache"},
		{"option without a TTL", "", "", xcache.WithNear(10, 0), "near cache: TTL 0s"},
		{"option overrides variable", "10", "", xcache.WithNear(0, 0), ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Setenv(string(xenv.NoSqlDriver), "redis")
			t.Setenv("NOSQL_NEAR_MAX_ENTRIES", tc.entries)
			t.Setenv("NOSQL_NEAR_TTL", tc.ttl)
			opts := []xcache.ManagerOption{registry(), xcache.FromEnv()}
			if tc.option != nil {
				opts = append(opts, tc.option)
			}
			_, err := openAll(t, opts...)
			if (tc.want == "") != (err == nil) ||
				(err != nil && !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("Open = %v, want %q", err, tc.want)
			}
		})
	}
}
