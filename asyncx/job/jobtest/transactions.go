package jobtest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/plinthgo/plinth/asyncx/job/driver"
)

// errRollback rolls back a transaction.
var errRollback = errors.New("jobtest: rollback")

// transactional skips the check if the engine is not transactional.
func transactional(run func(t *testing.T, e *env)) func(t *testing.T, e *env) {
	return func(t *testing.T, e *env) {
		if !e.Capabilities().Transactional {
			t.Skip("the engine is not transactional")
		}
		run(t, e)
	}
}

// transaction runs fn in a transaction, and fails the test if its error is not want.
func (e *env) transaction(t *testing.T, want error, fn func(ctx context.Context) error) {
	t.Helper()
	if err := e.h.Transaction(e.ctx, fn); !errors.Is(err, want) || want == nil && err != nil {
		t.Fatalf("the transaction = %v, want %v", err, want)
	}
}

var transactionChecks = []check{
	{"Transaction/JobIsVisibleAfterCommit", transactional(func(t *testing.T, e *env) {
		j := newJob()
		peer := e.connect(t)
		w := peer.work(t)
		e.transaction(t, nil, func(ctx context.Context) error {
			if err := e.Insert(ctx, []driver.Job{j}); err != nil {
				return err
			}
			w.wantIdle(t, "before the commit")
			// Get may block in a database with a single writer
			ctx, cancel := context.WithTimeout(peer.ctx, 2*time.Second)
			defer cancel()
			if _, err := peer.Get(ctx, j.ID); err == nil {
				t.Error("another replica sees an uncommitted job")
			}
			return nil
		})
		w.nextOf(t, j.ID, 1).ok()
		e.awaitDone(t, j.ID)
	})},
	{"Transaction/RolledBackJobNeverRuns", transactional(func(t *testing.T, e *env) {
		w := e.work(t)
		batch := jobs(3)
		e.transaction(t, errRollback, func(ctx context.Context) error {
			return errors.Join(e.Insert(ctx, batch), errRollback)
		})
		e.wantNone(t, ids(batch)...)
		w.wantIdle(t, "after the rollback")
	})},
	{
		"Transaction/RolledBackSavepoint",
		transactional(func(t *testing.T, e *env) {
			all := jobs(3)
			e.transaction(t, nil, func(ctx context.Context) error {
				if err := e.Insert(ctx, all[:1]); err != nil {
					return err
				}
				err := e.h.Transaction(ctx, func(ctx context.Context) error {
					return errors.Join(e.Insert(ctx, all[1:2]), errRollback)
				})
				wantErr(t, "the savepoint", err, errRollback)
				return e.h.Transaction(ctx,
					func(ctx context.Context) error { return e.Insert(ctx, all[2:]) })
			})
			e.wantNone(t, all[1].ID)
			w := e.work(t)
			for _, want := range []int{0, 2} {
				a := w.next(t)
				if a.ID == all[1].ID {
					t.Errorf("the job of the rolled back savepoint ran, want job %d", want)
				}
				a.ok()
			}
			w.wantIdle(t, "after the rollback")
		}),
	},
	{
		"Transaction/SavepointInARolledBackTransaction",
		transactional(func(t *testing.T, e *env) {
			j := newJob()
			e.transaction(t, errRollback, func(ctx context.Context) error {
				err := e.h.Transaction(ctx,
					func(ctx context.Context) error { return e.Insert(ctx, []driver.Job{j}) })
				return errors.Join(err, errRollback)
			})
			e.wantNone(t, j.ID)
			e.work(t).wantIdle(t, "after the rollback")
		}),
	},
	{"Transaction/BatchIsStored", transactional(func(t *testing.T, e *env) {
		batch := jobs(300, delay(time.Hour))
		e.transaction(t, nil, func(ctx context.Context) error { return e.Insert(ctx, batch) })
		wantIDs(t, "the list",
			e.list(t, driver.Query{State: driver.Waiting, Limit: 1000}), ids(batch))
	})},
}
