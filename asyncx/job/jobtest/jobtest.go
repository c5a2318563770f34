// Package jobtest is the definition of how an engine of durable jobs behaves: what passes
// Run may keep jobs, whoever wrote it.
//
//	func TestJobs(t *testing.T) {
//		jobtest.Run(t, jobtest.Harness{Open: open, Source: "private server", Server: version})
//	}
//
// Times are real: the suite is patient with an engine that is slow, and strict with one
// that loses a job, runs it too early or gives it to two.
package jobtest

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plinthgo/plinth/asyncx/job/driver"
	"github.com/plinthgo/plinth/core/major/xdb"
)

// Store is a place for jobs.
type Store struct {
	// Connect returns a replica of its own on the store at each call. What it opens
	// beside the engine ends with the test.
	Connect func(tb testing.TB) Replica

	// Stop takes the server away and Start brings it back with all its jobs, for the
	// checks of outages. Nil, as for a store in the process, leaves them out.
	Stop, Start func(tb testing.TB)
}

// Replica is an engine and what belongs to it. The suite closes the engine, once its work
// has ended.
type Replica struct {
	Engine driver.Engine

	// Context carries what the engine's methods need, such as the database. Nil is that
	// of the test.
	Context context.Context // as an application's does

	// Vanish cuts the engine off from the store as if its process had died: no call of it
	// arrives any longer. It does not wait for its work. Nil leaves the checks of dead
	// workers out.
	Vanish func(tb testing.TB)

	// Return undoes Vanish, as for a process that was frozen or unreachable. Nil leaves
	// the checks of those out.
	Return func(tb testing.TB)
}

// Harness supplies one engine under test.
type Harness struct {
	// Open returns a store that is new and empty.
	Open func(tb testing.TB) Store

	// Transaction runs fn in a transaction of the replica's database, which is rolled
	// back where fn returns an error, and is a savepoint where ctx is in a transaction
	// already. Nil is xdb.Transaction. Engines that are not transactional need none.
	Transaction func(ctx context.Context, fn func(ctx context.Context) error) error

	// Slack is how late the engine may be with what it does at some time, beyond
	// Driver.Work's Poll; 0 is 500 ms.
	Slack time.Duration

	// Tick is how early the engine may be, and how coarse its times are; 0 is 20 ms.
	Tick time.Duration

	// Longest is what the suite gives as the longest time of an attempt; 0 is 2 s. It
	// matters to an engine that takes a worker for dead once that has gone by.
	Longest time.Duration

	// Patience is how long the suite waits for what must happen at some time; 0 is 30 s.
	// A machine may be busy.
	Patience time.Duration

	// Serial says that the checks disturb one another and are not to run at the same
	// time.
	Serial bool

	// Source says where the store came from, and Server what it says it is, for the table
	// that ends the project's test run. Without a source the run is not reported.
	Source, Server string

	// Lawful names the checks that the engine does not pass and need not, each with the
	// reason. An unknown name or an empty reason fails the suite.
	Lawful map[string]string
}

// check is one part of the definition.
type check struct {
	name string
	run  func(t *testing.T, e *env)
}

// checks is the whole definition, in the order of the files.
func checks() []check {
	return slices.Concat(
		storeChecks, listChecks, transactionChecks, orderChecks, outcomeChecks, replayChecks,
		crowdChecks, deathChecks, stopChecks,
		callChecks, outageChecks,
	)
}

// Checks returns the names of all checks, for Harness.Lawful.
func Checks() []string {
	var names []string
	for _, c := range checks() {
		names = append(names, c.name)
	}
	return names
}

// Run runs every check as a subtest of t, in parallel unless Harness.Serial.
func Run(t *testing.T, h Harness) {
	t.Helper()
	h.defaults()
	for name, reason := range h.Lawful {
		if !slices.Contains(Checks(), name) {
			t.Errorf("Lawful names %q, which is no check", name)
		}
		if strings.TrimSpace(reason) == "" {
			t.Errorf("Lawful gives no reason for %q", name)
		}
	}
	notes := &notes{}
	if h.Source != "" {
		record(t, h, notes)
	}
	t.Run("suite", func(t *testing.T) {
		for _, c := range checks() {
			t.Run(c.name, func(t *testing.T) {
				if reason, ok := h.Lawful[c.name]; ok {
					t.Skip("lawful difference: " + reason)
				}
				if !h.Serial {
					t.Parallel()
				}
				c.run(t, newEnv(t, h, notes))
			})
		}
	})
}

func (h *Harness) defaults() {
	if h.Transaction == nil {
		h.Transaction = func(ctx context.Context, fn func(ctx context.Context) error) error {
			return xdb.Transaction(ctx, fn)
		}
	}
	if h.Slack == 0 {
		h.Slack = 500 * time.Millisecond
	}
	if h.Tick == 0 {
		h.Tick = 20 * time.Millisecond
	}
	if h.Patience == 0 {
		h.Patience = 30 * time.Second
	}
	if h.Longest == 0 {
		h.Longest = 2 * time.Second
	}
}
