// Package cachetest is the definition of how a cache backend behaves: a backend that
// passes Run may be named in NOSQL_DRIVER, whoever wrote it.
//
//	func TestConformance(t *testing.T) {
//		cachetest.Run(t, cachetest.Harness{Driver: memory.Driver{}, FakeClock: true})
//	}
//
// Every check works through the typed views of package xcache, on keys of its own, so
// that a server may be shared and need not be emptied.
package cachetest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/plinthgo/plinth/conformance/testreport"
	"github.com/plinthgo/plinth/core/major/xcache"
	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// Harness supplies one driver under test.
type Harness struct {
	Driver driver.Driver

	// Config returns the settings of a backend. It may skip the test where no server is
	// reachable. Nil is the zero Config.
	Config func(tb testing.TB) driver.Config

	// Manager returns options for each manager that the suite opens, such as a near
	// cache. Nil is none.
	Manager func(tb testing.TB) []xcache.ManagerOption

	// Invalid lists, by a name, settings that Driver.Check must refuse.
	Invalid map[string]driver.Config

	// FakeClock says that the store follows driver.Config.Now, so that the suite need not
	// wait.
	FakeClock bool

	// Outage returns a backend whose server the suite may stop and start again, see
	// PrivateOutage. Nil, as for a store in the process, leaves the checks of outages
	// out.
	Outage func(tb testing.TB) Outage

	// FailsWithin is the most that a call without a deadline takes to fail where the
	// server is gone, or silent; 0 is 5 s.
	FailsWithin time.Duration

	// RoundTrips counts the requests that store sends while run runs, for the checks that
	// an operation is one. Nil leaves these out.
	RoundTrips func(store driver.Store, run func()) int

	// Source says where the backend of Config came from, and Server what it says it is,
	// for the table that ends the project's test run: "in process" and "otter 2.4".
	// Without a source the run is not reported.
	Source, Server string

	// Differences names the checks that the backend does not pass and need not, each with the
	// reason. An unknown name or an empty reason fails the suite.
	Differences map[string]string
}

// check is one part of the definition.
type check struct {
	name string
	run  func(t *testing.T, e *env)
}

// checks is the whole definition, in the order of the files.
func checks() []check {
	return slices.Concat(
		keyChecks, hashChecks, setChecks, listChecks, expiryChecks, conditionChecks, edgeChecks,
		methodChecks,
		loadChecks, concurrencyChecks, batchChecks, scanChecks, leaseChecks, outageChecks,
	)
}

// Checks returns the names of all checks, for Harness.Differences.
func Checks() []string {
	var names []string
	for _, c := range checks() {
		names = append(names, c.name)
	}
	return names
}

// Run runs every check as a subtest of t.
func Run(t *testing.T, h Harness) {
	t.Helper()
	if h.Config == nil {
		h.Config = func(testing.TB) driver.Config { return driver.Config{} }
	}
	if h.Source != "" {
		testreport.Record(t, &testreport.Run{
			Family: "cache", Backend: h.Driver.Name(), Source: h.Source, Server: h.Server,
			Tests: len(checks()) - len(h.Differences),
		})
	}
	h.checkDifferences(t)
	h.runDriver(t)
	for _, c := range checks() {
		t.Run(c.name, func(t *testing.T) {
			if reason, ok := h.Differences[c.name]; ok {
				t.Skip("declared difference: " + reason)
			}
			c.run(t, newEnv(t, h))
		})
	}
}

// checkDifferences reports differences that are no checks, and those without a reason.
func (h Harness) checkDifferences(t *testing.T) {
	t.Helper()
	for name, reason := range h.Differences {
		if !slices.Contains(Checks(), name) {
			t.Errorf("Differences names %q, which is no check", name)
		}
		if strings.TrimSpace(reason) == "" {
			t.Errorf("Differences gives no reason for %q", name)
		}
	}
}

// runDriver runs the checks of the driver that need no store.
func (h Harness) runDriver(t *testing.T) {
	t.Helper()
	t.Run("Driver/Name", func(t *testing.T) {
		if h.Driver.Name() == "" || strings.ToLower(h.Driver.Name()) != h.Driver.Name() {
			t.Errorf("Name = %q, want one in lower case", h.Driver.Name())
		}
	})
	t.Run("Driver/InterfaceVersion", func(t *testing.T) {
		got := 1 // of a driver that does not say
		if v, ok := h.Driver.(driver.Versioned); ok {
			got = v.InterfaceVersion()
		}
		if got != driver.InterfaceVersion {
			t.Errorf("InterfaceVersion = %d, want %d: see what has changed in package driver",
				got, driver.InterfaceVersion)
		}
	})
	for name, c := range h.Invalid {
		t.Run("Driver/refuses/"+name, func(t *testing.T) {
			if h.Driver.Check(c) == nil {
				t.Error("Check accepted the settings")
			}
		})
	}
}

// env is what one check works with.
type env struct {
	m      *xcache.Manager
	prefix string
	unit   time.Duration // a short time on the store's clock
	clock  *clock        // nil where the time is real
	h      Harness
}

// newEnv opens a store for one check.
func newEnv(t *testing.T, h Harness) *env {
	t.Helper()
	e := &env{h: h, unit: 250 * time.Millisecond}
	e.prefix = fmt.Sprintf("cachetest:%d:", rand.Uint64())
	if h.FakeClock {
		e.unit, e.clock = time.Minute, &clock{now: time.Now()}
	}
	e.m = e.open(t)
	// a server that is shared should not fill up; where the store is no driver.Scanner it
	// may
	t.Cleanup(func() {
		_, _ = xcache.KeyCacheOf[string, int](e.m).Clear(context.WithoutCancel(t.Context()))
	})
	return e
}

// open opens a store and its manager; they are closed at the end.
func (e *env) open(t *testing.T, opts ...xcache.ManagerOption) *xcache.Manager {
	t.Helper()
	return e.manage(t, e.store(t), opts...)
}

// manage makes the manager of a store.
func (e *env) manage(
	t *testing.T, store driver.Store, opts ...xcache.ManagerOption,
) *xcache.Manager {
	t.Helper()
	all := append([]xcache.ManagerOption{xcache.WithPrefix(e.prefix)}, opts...)
	if e.h.Manager != nil {
		all = append(all, e.h.Manager(t)...)
	}
	m, err := xcache.New(store, all...)
	must(t, err)
	t.Cleanup(func() { must(t, m.Close()) })
	return m
}

// store opens a store, which is closed at the end.
func (e *env) store(t *testing.T) driver.Store {
	t.Helper()
	c := e.h.Config(t)
	if e.clock != nil {
		c.Now = e.clock.Now
	}
	must(t, e.h.Driver.Check(c))
	store, err := e.h.Driver.Open(t.Context(), c)
	must(t, err)
	t.Cleanup(func() { must(t, store.Close()) })
	return store
}

// pass lets d go by on the store's clock.
func (e *env) pass(d time.Duration) {
	if e.clock != nil {
		e.clock.add(d)
		return
	}
	<-time.After(d)
}

// clock is a time that the suite moves.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

// Now returns the time.
func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// must fails the test where err is an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// present returns a function that passes on a value that must be there; it takes what a
// read returns.
func present[V any](t testing.TB) func(v *V, ok bool, err error) *V {
	return func(v *V, ok bool, err error) *V {
		t.Helper()
		must(t, err)
		if v == nil || !ok {
			t.Fatalf("a read = %v, %t; want a value", v, ok)
		}
		return v
	}
}

// want fails the test where two values differ.
func want[T comparable](t testing.TB, what string, got, expected T) {
	t.Helper()
	if got != expected {
		t.Errorf("%s = %v, want %v", what, got, expected)
	}
}

// wantList fails the test where two lists differ; nil and empty are the same.
func wantList[T comparable](t testing.TB, what string, got, expected []T) {
	t.Helper()
	if !slices.Equal(got, expected) {
		t.Errorf("%s = %v, want %v", what, got, expected)
	}
}

// hasTTL is what all views have.
type hasTTL interface {
	TTL(ctx context.Context, key string) (time.Duration, bool, error)
}

// wantTTL fails the test where the life of key is not in (above, most]; 0 and 0 mean for
// ever.
func wantTTL(t testing.TB, v hasTTL, key string, above, most time.Duration) {
	t.Helper()
	ttl, ok, err := v.TTL(t.Context(), key)
	must(t, err)
	switch {
	case !ok:
		t.Errorf("TTL(%q): the key does not exist, want a life of %s", key, most)
	case most == 0 && ttl != 0:
		t.Errorf("TTL(%q) = %s, want 0 for ever", key, ttl)
	case most > 0 && (ttl <= above || ttl > most):
		t.Errorf("TTL(%q) = %s, want more than %s and at most %s", key, ttl, above, most)
	}
}

// wantGone fails the test where key exists.
func wantGone(t testing.TB, v hasTTL, key string) {
	t.Helper()
	_, ok, err := v.TTL(t.Context(), key)
	must(t, err)
	if ok {
		t.Errorf("the key %q exists, want it gone", key)
	}
}
