// Package leasetest is the conformance suite of lease backends. Run checks the behavior
// of a backend. Nodes checks with real processes that IDs are unique if the backend
// assigns the node IDs.
//
//	func TestMain(m *testing.M) {
//		leasetest.Child(open) // opens a backend by an address
//		os.Exit(m.Run())
//	}
//
//	func TestLeases(t *testing.T) {
//		leasetest.Run(t, leasetest.Harness{
//			Open: connect, Forget: flush, Source: "private server", Server: version,
//		})
//		leasetest.Nodes(t, leasetest.NodesHarness{Address: address, Forget: flush})
//	}
//
// Every check uses unique names, so the server may be shared and need not be empty; Nodes
// uses xsnowflake.LeaseName. The suite uses real time and tolerates a slow backend.
package leasetest

import (
	"context"
	"crypto/rand"
	"slices"
	"testing"
	"time"

	"github.com/plinthgo/plinth/conformance/testreport"
	"github.com/plinthgo/plinth/core/common/xlease/driver"
)

// Harness describes the backend under test.
type Harness struct {
	// Open returns a new connection to the same records. It must close the connection
	// when the test completes.
	Open func(tb testing.TB) driver.Backend

	// Forget removes all records of a name from the backend. It is nil if the backend
	// never loses records.
	Forget func(tb testing.TB, name string)

	// Source is the origin of the backend, and Server is its version, for the summary of
	// the project's test run. If Source is empty, the run is not reported.
	Source, Server string
}

// check is one check of the suite.
type check struct {
	name string
	run  func(t *testing.T, e *env)
}

// checks returns all checks, in the order of the files.
func checks() []check {
	return slices.Concat(lockChecks, renewChecks, forgetChecks, markChecks, slotChecks, nameChecks,
		contextChecks, raceChecks)
}

// Checks returns the names of all checks.
func Checks() []string {
	var names []string
	for _, c := range checks() {
		names = append(names, c.name)
	}
	return names
}

// Run runs every check as a parallel subtest of t.
func Run(t *testing.T, h Harness) {
	t.Helper()
	if h.Source != "" {
		testreport.Record(t, &testreport.Run{
			Family:  "lease",
			Backend: h.Open(t).Capabilities().Name,
			Source:  h.Source,
			Server:  h.Server,
			Tests:   len(checks()),
		})
	}
	t.Run("suite", func(t *testing.T) {
		for _, c := range checks() {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				c.run(t, &env{h: h, Backend: h.Open(t), name: "leasetest:" + rand.Text()})
			})
		}
	})
}

// env is the environment of a check.
type env struct {
	driver.Backend
	h    Harness
	name string
}

const (
	// brief is a TTL that expires during a check.
	brief = 250 * time.Millisecond
	// long is a TTL that does not expire during a check.
	long = 10 * time.Minute
	// maxDelay is the tolerated delay of a backend.
	maxDelay = 10 * time.Second
	// tick is the tolerated difference between the clocks of the test and the backend.
	tick = 5 * time.Millisecond
)

// request returns a request of a new holder for the name of the check.
func (e *env) request(ttl time.Duration, change ...func(r *driver.Request)) driver.Request {
	r := driver.Request{Name: e.name, Count: 1, Holder: rand.Text(), TTL: ttl}
	for _, c := range change {
		c(&r)
	}
	return r
}

// try calls Acquire and returns the grant and the holding for it.
func try(tb testing.TB, b driver.Backend, r driver.Request) (driver.Grant, driver.Holding) {
	tb.Helper()
	g, err := b.Acquire(tb.Context(), r)
	if err != nil {
		tb.Fatalf("Acquire: %v", err)
	}
	return g, driver.Holding{
		Name: r.Name, Slot: g.Slot, Holder: r.Holder, Token: g.Token,
		TTL: r.TTL, Mark: max(g.Mark, r.Mark),
	}
}

// mustAcquire acquires a free slot.
func mustAcquire(tb testing.TB, b driver.Backend, r driver.Request) (driver.Grant, driver.Holding) {
	tb.Helper()
	g, h := try(tb, b, r)
	if !g.OK {
		tb.Fatalf("Acquire: slot held for %s, want a free slot", g.Wait)
	}
	return g, h
}

// mustNotAcquire fails the test if Acquire succeeds.
func mustNotAcquire(tb testing.TB, b driver.Backend, r driver.Request) driver.Grant {
	tb.Helper()
	g, _ := try(tb, b, r)
	if g.OK {
		tb.Fatalf("Acquire granted slot %d to a second holder", g.Slot)
	}
	return g
}

// await retries Acquire until it succeeds. It fails the test if Acquire succeeds before
// notBefore, or not within maxDelay after it.
func await(
	tb testing.TB, b driver.Backend, r driver.Request, notBefore time.Time,
) (driver.Grant, driver.Holding) {
	tb.Helper()
	for {
		g, h := try(tb, b, r)
		now := time.Now()
		switch {
		case g.OK && now.Before(notBefore.Add(-tick)):
			tb.Fatalf("Acquire granted slot %d to a second holder %s before the lease expired",
				g.Slot, notBefore.Sub(now))
		case g.OK:
			return g, h
		case now.After(notBefore.Add(maxDelay)):
			tb.Fatalf("Acquire: slot held for another %s, %s after the lease expired",
				g.Wait, now.Sub(notBefore))
		}
		sleep(10 * time.Millisecond)
	}
}

// sleep waits for d.
func sleep(d time.Duration) { <-time.After(d) }

// renew renews h and checks the result.
func renew(tb testing.TB, b driver.Backend, h driver.Holding, want bool) {
	tb.Helper()
	checkHeld(tb, "Renew", b.Renew, h, want)
}

// release releases h and checks the result.
func release(tb testing.TB, b driver.Backend, h driver.Holding, want bool) {
	tb.Helper()
	checkHeld(tb, "Release", b.Release, h, want)
}

func checkHeld(
	tb testing.TB, method string, call func(context.Context, driver.Holding) (bool, error),
	h driver.Holding, want bool,
) {
	tb.Helper()
	held, err := call(tb.Context(), h)
	if err != nil {
		tb.Fatalf("%s: %v", method, err)
	}
	if held != want {
		tb.Fatalf("%s = %t, want %t", method, held, want)
	}
}

// forget removes the records of the check's name, or skips the check.
func (e *env) forget(t *testing.T) {
	t.Helper()
	if e.h.Forget == nil {
		t.Skip("the backend never loses records")
	}
	e.h.Forget(t, e.name)
}
