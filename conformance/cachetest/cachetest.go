// Package cachetest is the conformance suite for cache backends. A backend that passes
// Run can be used as NOSQL_DRIVER.
//
//	func TestConformance(t *testing.T) {
//		cachetest.Run(t, cachetest.Harness{Driver: memory.Driver{}, FakeClock: true})
//	}
//
// Every check uses the typed views of package xcache with a unique key prefix, so the
// server can be shared and does not have to be empty.
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

// Harness configures the suite for one driver.
type Harness struct {
	Driver driver.Driver

	// Config returns the settings of a backend. It may skip the test if no server is
	// reachable. Nil means the zero Config.
	Config func(tb testing.TB) driver.Config

	// Manager returns options for each manager that the suite opens, such as a near
	// cache. It may be nil.
	Manager func(tb testing.TB) []xcache.ManagerOption

	// Invalid maps names to settings that Driver.Check must reject.
	Invalid map[string]driver.Config

	// FakeClock reports whether the store uses driver.Config.Now, so that the suite does
	// not have to wait.
	FakeClock bool

	// Outage returns a backend whose server the suite can stop and start, see
	// PrivateOutage. If it is nil, as for in-process stores, outage checks are skipped.
	Outage func(tb testing.TB) Outage

	// FailsWithin is the maximum duration of a call without a deadline if the server is
	// down or unresponsive. The default is 5 s.
	FailsWithin time.Duration

	// RoundTrips returns the number of requests that store sends during run. If it is
	// nil, round trip checks are skipped.
	RoundTrips func(store driver.Store, run func()) int

	// Source and Server describe the backend in the report of the test run, such as "in
	// process" and "otter 2.4". Without Source the run is not reported.
	Source, Server string

	// Differences maps checks that the backend does not pass to the reasons. An unknown
	// name or an empty reason fails the suite.
	Differences map[string]string
}

// check is one check of the suite.
type check struct {
	name string
	run  func(t *testing.T, e *env)
}

// checks returns all checks.
func checks() []check {
	return slices.Concat(
		keyChecks, hashChecks, setChecks, listChecks,
		expiryChecks, conditionChecks, edgeChecks, methodChecks,
		loadChecks, concurrencyChecks, batchChecks,
		scanChecks, clearChecks, leaseChecks, outageChecks,
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
			Family:  "cache",
			Backend: h.Driver.Name(),
			Source:  h.Source,
			Server:  h.Server,
			Tests:   len(checks()) - len(h.Differences),
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

// checkDifferences reports unknown checks and missing reasons.
func (h Harness) checkDifferences(t *testing.T) {
	t.Helper()
	for name, reason := range h.Differences {
		if !slices.Contains(Checks(), name) {
			t.Errorf("Differences names %q, which is not a check", name)
		}
		if strings.TrimSpace(reason) == "" {
			t.Errorf("Differences has no reason for %q", name)
		}
	}
}

// runDriver runs the checks that need no store.
func (h Harness) runDriver(t *testing.T) {
	t.Helper()
	t.Run("Driver/Name", func(t *testing.T) {
		if h.Driver.Name() == "" || strings.ToLower(h.Driver.Name()) != h.Driver.Name() {
			t.Errorf("Name = %q, want lower case", h.Driver.Name())
		}
	})
	t.Run("Driver/InterfaceVersion", func(t *testing.T) {
		got := 1 // the default of driver.Versioned
		if v, ok := h.Driver.(driver.Versioned); ok {
			got = v.InterfaceVersion()
		}
		if got != driver.InterfaceVersion {
			t.Errorf("InterfaceVersion = %d, want %d: see the changes of package driver",
				got, driver.InterfaceVersion)
		}
	})
	for name, c := range h.Invalid {
		t.Run("Driver/Check/"+name, func(t *testing.T) {
			if h.Driver.Check(c) == nil {
				t.Error("Check accepted the settings")
			}
		})
	}
}

// env is the environment of one check.
type env struct {
	m      *xcache.Manager
	prefix string
	unit   time.Duration // a short duration on the store's clock
	clock  *clock        // nil if the store uses real time
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
	// Clean up shared servers. Clear fails if the store is not a driver.Scanner.
	t.Cleanup(func() {
		_, _ = xcache.KeyCacheOf[string, int](e.m).Clear(context.WithoutCancel(t.Context()))
	})
	return e
}

// open opens a store and its manager and closes them after the test.
func (e *env) open(t *testing.T, opts ...xcache.ManagerOption) *xcache.Manager {
	t.Helper()
	return e.manage(t, e.store(t), opts...)
}

// manage returns a manager of store.
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

// store opens a store and closes it after the test.
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

// advance advances the store's clock by d.
func (e *env) advance(d time.Duration) {
	if e.clock != nil {
		e.clock.add(d)
		return
	}
	<-time.After(d)
}

// clock is a fake clock.
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

// must fails the test if err is not nil.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// present returns a function that checks the results of a read and returns the value.
func present[V any](t testing.TB) func(v *V, ok bool, err error) *V {
	return func(v *V, ok bool, err error) *V {
		t.Helper()
		must(t, err)
		if v == nil || !ok {
			t.Fatalf("Get = %v, %t; want a value", v, ok)
		}
		return v
	}
}

// want fails the test if got and expected differ.
func want[T comparable](t testing.TB, what string, got, expected T) {
	t.Helper()
	if got != expected {
		t.Errorf("%s = %v, want %v", what, got, expected)
	}
}

// wantList fails the test if the lists differ; nil and empty are equal.
func wantList[T comparable](t testing.TB, what string, got, expected []T) {
	t.Helper()
	if !slices.Equal(got, expected) {
		t.Errorf("%s = %v, want %v", what, got, expected)
	}
}

// hasTTL is implemented by all views.
type hasTTL interface {
	TTL(ctx context.Context, key string) (time.Duration, bool, error)
}

// wantTTL fails the test if the TTL of key is not in (above, most]; 0 and 0 mean no
// expiry.
func wantTTL(t testing.TB, v hasTTL, key string, above, most time.Duration) {
	t.Helper()
	ttl, ok, err := v.TTL(t.Context(), key)
	must(t, err)
	switch {
	case !ok:
		t.Errorf("TTL(%q): the key does not exist, want %s", key, most)
	case most == 0 && ttl != 0:
		t.Errorf("TTL(%q) = %s, want 0 (no expiry)", key, ttl)
	case most > 0 && (ttl <= above || ttl > most):
		t.Errorf("TTL(%q) = %s, want more than %s and at most %s", key, ttl, above, most)
	}
}

// wantMissing fails the test if key exists.
func wantMissing(t testing.TB, v hasTTL, key string) {
	t.Helper()
	_, ok, err := v.TTL(t.Context(), key)
	must(t, err)
	if ok {
		t.Errorf("the key %q exists", key)
	}
}
