package jobtest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/plinthgo/plinth/asyncx/job/driver"
)

// errRollback rolls a transaction back.
var errRollback = errors.New("jobtest: roll back")

// transactional skips the check for an engine that takes no part in transactions.
func transactional(run func(t *testing.T, e *env)) func(t *testing.T, e *env) {
	return func(t *testing.T, e *env) {
		if !e.Capabilities().Transactional {
			t.Skip("the engine takes no part in transactions")
		}
		run(t, e)
	}
}

// transaction runs fn in a transaction, and fails where that does not end as it is to.
func (e *env) transaction(t *testing.T, want error, fn func(ctx context.Context) error) {
	t.Helper()
	if err := e.h.Transaction(e.ctx, fn); !errors.Is(err, want) || want == nil && err != nil {
		t.Fatalf("the transaction = %v, want %v", err, want)
	}
}

var transactionChecks = []check{
	{"Transaction/AJobIsThereFromTheCommitOn", transactional(func(t *testing.T, e *env) {
		j := newJob()
		peer := e.connect(t)
		w := peer.work(t)
		e.transaction(t, nil, func(ctx context.Context) error {
			if err := e.Insert(ctx, []driver.Job{j}); err != nil {
				return err
			}
			w.quiet(t, "which is not committed")
			// a database with one writer lets it wait
			ctx, cancel := context.WithTimeout(peer.ctx, 2*time.Second)
			defer cancel()
			if _, err := peer.Get(ctx, j.ID); err == nil {
				t.Error("others see a job that is not committed")
			}
			return nil
		})
		w.nextOf(t, j.ID, 1).ok()
		e.awaitDone(t, j.ID)
	})},
	{"Transaction/AJobThatIsRolledBackNeverRuns", transactional(func(t *testing.T, e *env) {
		w := e.work(t)
		batch := jobs(3)
		e.transaction(t, errRollback, func(ctx context.Context) error {
			return errors.Join(e.Insert(ctx, batch), errRollback)
		})
		e.wantNone(t, ids(batch)...)
		w.quiet(t, "which was rolled back")
	})},
	{
		"Transaction/AJobOfASavepointThatIsRolledBackNeverRuns",
		transactional(func(t *testing.T, e *env) {
			all := jobs(3)
			e.transaction(t, nil, func(ctx context.Context) error {
				if err := e.Insert(ctx, all[:1]); err != nil {
					return err
				}
				err := e.h.Transaction(ctx, func(ctx context.Context) error {
					return errors.Join(e.Insert(ctx, all[1:2]), errRollback)
				})
				is(t, "the savepoint", err, errRollback)
				return e.h.Transaction(ctx,
					func(ctx context.Context) error { return e.Insert(ctx, all[2:]) })
			})
			e.wantNone(t, all[1].ID)
			w := e.work(t)
			for _, want := range []int{0, 2} {
				a := w.next(t)
				if a.ID == all[1].ID {
					t.Errorf("the job of the savepoint that was rolled back runs, want that of number %d", want)
				}
				a.ok()
			}
			w.quiet(t, "which was rolled back")
		}),
	},
	{
		"Transaction/AJobOfASavepointEndsWithTheTransaction",
		transactional(func(t *testing.T, e *env) {
			j := newJob()
			e.transaction(t, errRollback, func(ctx context.Context) error {
				err := e.h.Transaction(ctx,
					func(ctx context.Context) error { return e.Insert(ctx, []driver.Job{j}) })
				return errors.Join(err, errRollback)
			})
			e.wantNone(t, j.ID)
			e.work(t).quiet(t, "which was rolled back")
		}),
	},
	{"Transaction/ABatchIsStoredWhole", transactional(func(t *testing.T, e *env) {
		batch := jobs(300, delay(time.Hour))
		e.transaction(t, nil, func(ctx context.Context) error { return e.Insert(ctx, batch) })
		wantIDs(t, "the list",
			e.list(t, driver.Query{State: driver.Waiting, Limit: 1000}), ids(batch))
	})},
}
