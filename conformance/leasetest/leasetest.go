// Package leasetest is the definition of how a backend of leases behaves: what passes Run
// may keep leases, whoever wrote it. Nodes proves on real processes that no two ids are
// equal whose node numbers it has handed out.
//
//	func TestMain(m *testing.M) {
//		leasetest.Child(open) // opens a backend by an address
//		os.Exit(m.Run())
//	}
//
//	func TestLeases(t *testing.T) {
//		leasetest.Run(t, leasetest.Harness{Open: connect, Forget: flush, Source: "private server", Server: version})
//		leasetest.Nodes(t, leasetest.NodesHarness{Address: address, Forget: flush})
//	}
//
// Every check uses names of its own, so that a server may be shared and need not be
// emptied; Nodes uses the one of ids. Times are real: the suite is patient with a slow
// backend, and strict with one that gives a name to two.
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

// Harness supplies one backend under test.
type Harness struct {
	// Open returns a connection of its own to the same records at each call; what it
	// opens ends with the test.
	Open func(tb testing.TB) driver.Backend

	// Forget makes the backend lose all it knows of a name; nil where it never does.
	Forget func(tb testing.TB, name string)

	// Source says where the backend came from, and Server what it says it is, for the
	// table that ends the project's test run. Without a source the run is not reported.
	Source, Server string
}

// check is one part of the definition.
type check struct {
	name string
	run  func(t *testing.T, e *env)
}

// checks is the whole definition, in the order of the files.
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

// Run runs every check as a subtest of t, in parallel.
func Run(t *testing.T, h Harness) {
	t.Helper()
	if h.Source != "" {
		testreport.Record(t, &testreport.Run{
			Family: "lease", Backend: h.Open(t).Capabilities().Name, Source: h.Source,
			Server: h.Server, Tests: len(checks()),
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

// env is what one check works with.
type env struct {
	driver.Backend
	h    Harness
	name string
}

const (
	// brief is a TTL that a check waits for.
	brief = 250 * time.Millisecond
	// long is a TTL that does not end during a check.
	long = 10 * time.Minute
	// patience is how late a backend may be with what it must do at some time.
	patience = 10 * time.Second
	// tick is what clocks may be wrong by where a backend must not be early.
	tick = 5 * time.Millisecond
)

// ask is a request of a new holder for the check's name.
func (e *env) ask(ttl time.Duration, change ...func(r *driver.Request)) driver.Request {
	r := driver.Request{Name: e.name, Count: 1, Holder: rand.Text(), TTL: ttl}
	for _, c := range change {
		c(&r)
	}
	return r
}

// try asks once.
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

// take takes what must be free.
func take(tb testing.TB, b driver.Backend, r driver.Request) (driver.Grant, driver.Holding) {
	tb.Helper()
	g, h := try(tb, b, r)
	if !g.OK {
		tb.Fatalf("Acquire was refused for %s, want a free slot", g.Wait)
	}
	return g, h
}

// refused asks for what must not be free.
func refused(tb testing.TB, b driver.Backend, r driver.Request) driver.Grant {
	tb.Helper()
	g, _ := try(tb, b, r)
	if g.OK {
		tb.Fatalf("Acquire gave slot %d to a second holder", g.Slot)
	}
	return g
}

// await takes what becomes free by itself, and fails where that was before the time not
// before, or takes for ever.
func await(
	tb testing.TB, b driver.Backend, r driver.Request, notBefore time.Time,
) (driver.Grant, driver.Holding) {
	tb.Helper()
	for {
		g, h := try(tb, b, r)
		now := time.Now()
		switch {
		case g.OK && now.Before(notBefore.Add(-tick)):
			tb.Fatalf("Acquire gave slot %d to a second holder, %s before the first one's time was over", g.Slot, notBefore.Sub(now))
		case g.OK:
			return g, h
		case now.After(notBefore.Add(patience)):
			tb.Fatalf("Acquire is refused for another %s, %s after the record's end",
				g.Wait, now.Sub(notBefore))
		}
		pass(10 * time.Millisecond)
	}
}

// pass lets real time go by.
func pass(d time.Duration) { <-time.After(d) }

// renew renews what must be held, or must not.
func renew(tb testing.TB, b driver.Backend, h driver.Holding, want bool) {
	tb.Helper()
	saysHeld(tb, "Renew", b.Renew, h, want)
}

// release releases what must be held, or must not.
func release(tb testing.TB, b driver.Backend, h driver.Holding, want bool) {
	tb.Helper()
	saysHeld(tb, "Release", b.Release, h, want)
}

func saysHeld(
	tb testing.TB, what string, call func(context.Context, driver.Holding) (bool, error),
	h driver.Holding, want bool,
) {
	tb.Helper()
	held, err := call(tb.Context(), h)
	if err != nil {
		tb.Fatalf("%s: %v", what, err)
	}
	if held != want {
		tb.Fatalf("%s says held = %t, want %t", what, held, want)
	}
}

// forget makes the backend forget the check's name, or skips where it cannot.
func (e *env) forget(t *testing.T) {
	t.Helper()
	if e.h.Forget == nil {
		t.Skip("this backend never forgets")
	}
	e.h.Forget(t, e.name)
}
