// Package jobtest is the conformance suite for engines of durable jobs.
//
//	func TestJobs(t *testing.T) {
//		jobtest.Run(t, jobtest.Harness{
//			Open: open, Source: "private server", Server: version,
//		})
//	}
//
// The suite uses the real clock. It tolerates slow engines, but not engines that lose a
// job, run it too early, or assign it to two workers.
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

// Store creates engines on one store of jobs.
type Store struct {
	// Connect returns a new replica on the store at each call. At the end of the test it
	// releases everything that it opened, except the engine.
	Connect func(tb testing.TB) Replica

	// Stop stops the server, and Start restarts it with all its jobs. The outage checks
	// are skipped if they are nil, for example for a store in the process.
	Stop, Start func(tb testing.TB)
}

// Replica is an engine with its context. The suite closes the engine after its work has
// returned.
type Replica struct {
	Engine driver.Engine

	// Context is passed to the engine's methods and carries values such as the database.
	// Nil means the context of the test.
	Context context.Context

	// Disconnect makes every later call of the engine fail, as if its process had
	// crashed. It does not wait for running work. If it is nil, the checks of crashed
	// workers are skipped.
	Disconnect func(tb testing.TB)

	// Reconnect reverts Disconnect, like the resumption of a suspended process or the end
	// of a network failure. If it is nil, the checks of such workers are skipped.
	Reconnect func(tb testing.TB)
}

// Harness describes the engine under test.
type Harness struct {
	// Open returns a new, empty store.
	Open func(tb testing.TB) Store

	// Transaction runs fn in a transaction of the replica's database, or in a savepoint
	// if ctx is in a transaction already. It rolls back if fn returns an error. Nil means
	// xdb.Transaction. Only transactional engines need it.
	Transaction func(ctx context.Context, fn func(ctx context.Context) error) error

	// LateTolerance is how late the engine may act, in addition to Work.PollInterval; 0
	// means 500 ms.
	LateTolerance time.Duration

	// EarlyTolerance is how early the engine may act, and the resolution of its times; 0
	// means 20 ms.
	EarlyTolerance time.Duration

	// MaxDuration is the Work.MaxDuration that the suite passes; 0 means 2 s. It matters
	// only to an engine that reassigns a job after this time.
	MaxDuration time.Duration

	// Timeout is how long the suite waits for an expected event; 0 means 30 s.
	Timeout time.Duration

	// Sequential runs the checks one after the other instead of in parallel.
	Sequential bool

	// Source is the origin of the store and Server is its version, for the table at the
	// end of the project's test run. Without a Source, the run is not reported.
	Source, Server string

	// Differences names the checks that the engine does not need to pass, each with the
	// reason. An unknown name or an empty reason fails the suite.
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
		storeChecks, listChecks, transactionChecks, orderChecks, outcomeChecks, replayChecks,
		concurrencyChecks, takeoverChecks, shutdownChecks,
		callChecks, outageChecks,
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

// Run runs every check as a subtest of t, in parallel unless Harness.Sequential.
func Run(t *testing.T, h Harness) {
	t.Helper()
	h.defaults()
	for name, reason := range h.Differences {
		if !slices.Contains(Checks(), name) {
			t.Errorf("Differences contains %q, which is not a check", name)
		}
		if strings.TrimSpace(reason) == "" {
			t.Errorf("Differences contains no reason for %q", name)
		}
	}
	notes := &notes{}
	if h.Source != "" {
		record(t, h, notes)
	}
	t.Run("suite", func(t *testing.T) {
		for _, c := range checks() {
			t.Run(c.name, func(t *testing.T) {
				if reason, ok := h.Differences[c.name]; ok {
					t.Skip("declared difference: " + reason)
				}
				if !h.Sequential {
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
	if h.LateTolerance == 0 {
		h.LateTolerance = 500 * time.Millisecond
	}
	if h.EarlyTolerance == 0 {
		h.EarlyTolerance = 20 * time.Millisecond
	}
	if h.Timeout == 0 {
		h.Timeout = 30 * time.Second
	}
	if h.MaxDuration == 0 {
		h.MaxDuration = 2 * time.Second
	}
}
