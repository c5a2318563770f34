package jobtest_test

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/plinthgo/plinth/asyncx/job/driver"
	"github.com/plinthgo/plinth/core/major/xdb/transaction"
)

var errBroken = errors.New("deliberately broken")

// defect breaks an engine. Each of its checks must detect it.
type defect struct {
	apply  func(b *broken)
	checks []string
}

// storeDefects concern Insert, Get and List.
var storeDefects = map[string]defect{
	"null becomes an object": {changeJob(func(j *driver.Job) {
		j.Args = bytes.ReplaceAll(j.Args, []byte("null"), []byte("{}"))
	}), []string{"Store/ArgumentsOfEveryJSONType"}},
	"NUL is dropped": {changeJob(func(j *driver.Job) {
		j.Args = bytes.ReplaceAll(j.Args, []byte(` \u0000`), nil)
	}), []string{"Store/UnicodeArguments"}},
	"integers become floats": {changeJob(func(j *driver.Job) {
		j.Args = bytes.ReplaceAll(j.Args, []byte("9007199254740993"), []byte("9007199254740992"))
	}), []string{"Store/AJobRunsOnceUnchanged"}},
	"arguments are limited to 64 KiB": {func(b *broken) {
		b.insert = func(ctx context.Context, jobs []driver.Job) error {
			if slices.ContainsFunc(jobs, func(j driver.Job) bool { return len(j.Args) > 1<<16 }) {
				return errBroken
			}
			return b.base.Insert(ctx, jobs)
		}
	}, []string{"Store/ArgumentsOfOneMiB"}},
	"empty meta values are dropped": {changeJob(func(j *driver.Job) {
		j.Meta = maps.Clone(j.Meta)
		delete(j.Meta, "a")
	}), []string{"Store/UnicodeMeta"}},
	"kinds are truncated": {
		changeJob(func(j *driver.Job) { j.Kind = j.Kind[:min(len(j.Kind), 64)] }),
		[]string{"Store/LongestKind"},
	},
	"half of the batch is stored": {func(b *broken) {
		b.insert = func(ctx context.Context, jobs []driver.Job) error {
			return b.base.Insert(ctx, jobs[:(len(jobs)+1)/2])
		}
	}, []string{"Store/BatchIsStored", "Transaction/BatchIsStored", "List/FiltersByKind"}},
	"batches are not atomic": {func(b *broken) {
		b.insert = func(ctx context.Context, jobs []driver.Job) error {
			for _, j := range jobs {
				if err := b.base.Insert(ctx, []driver.Job{j}); err != nil {
					return err
				}
			}
			return nil
		}
	}, []string{
		"Store/BatchWithAnExistingIDIsRejected",
		"Store/BatchWithADuplicateIDIsRejected",
	}},
	"only own jobs run": {func(b *broken) {
		own := map[string]bool{}
		b.insert = func(ctx context.Context, jobs []driver.Job) error {
			for _, j := range jobs {
				own[j.ID] = true
			}
			return b.base.Insert(ctx, jobs)
		}
		wrapRun(func(
			_ *broken, _, ctx context.Context, a driver.Attempt, run runFunc,
		) driver.Outcome {
			if !own[a.ID] {
				return driver.Outcome{Action: driver.Release, Wait: 100 * time.Millisecond}
			}
			return run(ctx, a)
		})(b)
	}, []string{"Store/AnotherReplicaRunsTheJob"}},
	"state is always waiting": {func(b *broken) {
		b.get = func(ctx context.Context, id string) (driver.Record, error) {
			r, err := b.base.Get(ctx, id)
			r.State = driver.Waiting
			return r, err
		}
	}, []string{"Store/GetReturnsTheState", "Takeover/AnotherWorkerRunsTheJob"}},
	"unknown ID returns no error": {func(b *broken) {
		b.get = func(ctx context.Context, id string) (driver.Record, error) {
			r, err := b.base.Get(ctx, id)
			if errors.Is(err, driver.ErrNotFound) {
				err = nil
			}
			return r, err
		}
	}, []string{"Store/UnknownID"}},
	"reverse order": {changePage(func(page []driver.Record) []driver.Record {
		slices.Reverse(page)
		return page
	}), []string{"List/OrderedByID"}},
	"After must exist": {func(b *broken) {
		b.list = func(ctx context.Context, q driver.Query) ([]driver.Record, error) {
			if _, err := b.base.Get(ctx, q.After); err != nil {
				q.After = ""
			}
			return b.base.List(ctx, q)
		}
	}, []string{"List/ContinuesAfterADeletedJob"}},
	"kind filter matches prefixes": {func(b *broken) {
		b.list = func(ctx context.Context, q driver.Query) ([]driver.Record, error) {
			kind := q.Kind
			q.Kind = ""
			page, err := b.base.List(ctx, q)
			return slices.DeleteFunc(page,
				func(r driver.Record) bool { return !strings.HasPrefix(r.Kind, kind) }), err
		}
	}, []string{"List/FiltersByKind"}},
	"kind filter applies after the limit": {func(b *broken) {
		b.list = func(ctx context.Context, q driver.Query) ([]driver.Record, error) {
			kind := q.Kind
			q.Kind = ""
			page, err := b.base.List(ctx, q)
			return slices.DeleteFunc(page,
				func(r driver.Record) bool { return kind != "" && r.Kind != kind }), err
		}
	}, []string{"List/PaginatesOneKind"}},
	"running jobs are listed as waiting": {func(b *broken) {
		b.list = func(ctx context.Context, q driver.Query) ([]driver.Record, error) {
			page, err := b.base.List(ctx, q)
			if q.State == driver.Waiting {
				q.State = driver.Running
				more, _ := b.base.List(ctx, q)
				page = append(more, page...)
			}
			return page, err
		}
	}, []string{"List/FiltersByState"}},
	"list drops errors": {changePage(func(page []driver.Record) []driver.Record {
		for i := range page {
			page[i].Error = ""
		}
		return page
	}), []string{"List/ReturnsCompleteRecords"}},
	"no transactions": {func(b *broken) {
		b.insert = func(ctx context.Context, jobs []driver.Job) error {
			return b.base.Insert(transaction.Without(ctx), jobs)
		}
	}, []string{
		"Transaction/JobIsVisibleAfterCommit", "Transaction/RolledBackJobNeverRuns",
		"Transaction/RolledBackSavepoint",
		"Transaction/SavepointInARolledBackTransaction",
	}},
}

// orderDefects concern the order, outcomes, Replay and Delete.
var orderDefects = map[string]defect{
	"half a delay": {
		changeJob(func(j *driver.Job) { j.Delay /= 2 }),
		[]string{"Order/DelayIsRespected"},
	},
	"delays are capped": {changeJob(func(j *driver.Job) {
		j.Delay = min(j.Delay, 100*time.Millisecond)
	}), []string{"Order/LongDelayIsRespected"}},
	"no priorities": {changeJob(func(j *driver.Job) { j.Priority = 3 }), []string{
		"Order/SmallerPriorityRunsFirst", "Order/HigherPriorityOvertakesWaitingJobs",
		"Order/PriorityAppliesAcrossKinds",
	}},
	"concurrency is too high": {
		changeWork(func(w *driver.Work) { w.Concurrency++ }),
		[]string{"Order/ConcurrencyIsReachedAndNotExceeded"},
	},
	"concurrency is too low": {
		changeWork(func(w *driver.Work) { w.Concurrency = max(1, w.Concurrency-1) }),
		[]string{"Order/ConcurrencyIsReachedAndNotExceeded"},
	},
	"concurrency is doubled": {
		changeWork(func(w *driver.Work) { w.Concurrency *= 2 }),
		[]string{"Order/ConcurrencyIsLimitedUnderLoad"},
	},
	"other kinds run too": {func(b *broken) {
		b.work = func(ctx context.Context, w driver.Work) error {
			own, run := w.Kinds, w.Run
			w.Kinds = append(slices.Clone(own), "kind.other")
			w.Run = func(ctx context.Context, a driver.Attempt) driver.Outcome {
				if !slices.Contains(own, a.Kind) {
					return driver.Outcome{Action: driver.Retry, Wait: time.Second}
				}
				return run(ctx, a)
			}
			return b.base.Work(ctx, w)
		}
	}, []string{"Order/OtherKindsAreUntouched"}},
	"runs twice": {changeOutcome(func(a driver.Attempt, o *driver.Outcome) {
		if o.Action == driver.Complete && a.Number == 1 {
			o.Action = driver.Retry
		}
	}), []string{
		"Store/AJobRunsOnceUnchanged", "Concurrency/EachJobRunsOnce",
		"Concurrency/JobsInsertedDuringWorkRunOnce",
	}},
	"waits are ignored": {
		changeOutcome(func(_ driver.Attempt, o *driver.Outcome) { o.Wait = 0 }),
		[]string{
			"Outcome/RetryWaits", "Outcome/ReleaseWaits", "Outcome/ReleaseDoesNotCountTheAttempt",
		},
	},
	"errors are dropped": {changeOutcome(func(_ driver.Attempt, o *driver.Outcome) {
		o.Error = ""
	}), []string{
		"Outcome/RetryStoresTheError", "Outcome/DiscardStoresTheError", "Shutdown/StoresAFailure",
	}},
	"errors are truncated": {changeOutcome(func(_ driver.Attempt, o *driver.Outcome) {
		o.Error = o.Error[:min(len(o.Error), 255)]
	}), []string{"Outcome/ErrorIsStoredUnchanged"}},
	"the engine limits attempts": {changeOutcome(func(a driver.Attempt, o *driver.Outcome) {
		if o.Action == driver.Retry && a.Number >= a.MaxAttempts {
			o.Action = driver.Discard
		}
	}), []string{"Outcome/RetriesAreNotLimitedByTheEngine"}},
	"retries block a slot": {changeOutcome(func(_ driver.Attempt, o *driver.Outcome) {
		if o.Action == driver.Retry {
			<-time.After(min(o.Wait, 5*time.Second))
		}
	}), []string{"Outcome/RetryDoesNotBlockOtherJobs"}},
	"discarded jobs are retried": {changeOutcome(func(_ driver.Attempt, o *driver.Outcome) {
		if o.Action == driver.Discard {
			o.Action = driver.Retry
		}
	}), []string{"Outcome/DiscardStoresTheError", "Shutdown/StoresADiscard"}},
	"releases count as attempts": {changeOutcome(func(_ driver.Attempt, o *driver.Outcome) {
		if o.Action == driver.Release {
			o.Action = driver.Retry
		}
	}), []string{
		"Outcome/ReleaseDoesNotCountTheAttempt",
		"Shutdown/ReleasedJobsAreAvailableImmediately",
	}},
	"discarded jobs are deleted": {changeOutcome(func(_ driver.Attempt, o *driver.Outcome) {
		if o.Action == driver.Discard {
			o.Action = driver.Complete
		}
	}), []string{"Concurrency/AllOutcomesAreStored"}},
	"replay does not reset attempts": {func(b *broken) {
		var replayed atomic.Bool
		b.replay = func(ctx context.Context, id string) error {
			replayed.Store(true)
			return b.base.Replay(ctx, id)
		}
		b.get = func(ctx context.Context, id string) (driver.Record, error) {
			r, err := b.base.Get(ctx, id)
			if replayed.Load() {
				r.Attempt += 2
			}
			return r, err
		}
		changeAttempt(func(a *driver.Attempt) {
			if replayed.Load() {
				a.Number += 2
			}
		})(b)
	}, []string{"Replay/ResetsTheAttempts", "Replay/ReturnsTheJobToTheQueue"}},
	"the state is not checked": {func(b *broken) {
		lax := func(do func(ctx context.Context, id string) error) func(ctx context.Context,
			id string) error {
			return func(ctx context.Context, id string) error {
				if err := do(ctx, id); !errors.Is(err, driver.ErrState) {
					return err
				}
				return nil
			}
		}
		b.replay, b.remove = lax(b.base.Replay), lax(b.base.Delete)
	}, []string{
		"Replay/RejectsOtherStates", "Replay/ConcurrentCallsReplayOnce",
		"Delete/RejectsARunningJob",
	}},
	"deleted jobs are only hidden": {func(b *broken) {
		hidden := map[string]bool{}
		b.remove = func(ctx context.Context, id string) error {
			if _, err := b.get(ctx, id); err != nil {
				return err
			}
			hidden[id] = true
			return nil
		}
		b.get = func(ctx context.Context, id string) (driver.Record, error) {
			if hidden[id] {
				return driver.Record{}, driver.ErrNotFound
			}
			return b.base.Get(ctx, id)
		}
	}, []string{"Delete/WaitingJob", "Delete/JobThatWaitsForARetry", "Delete/DeadJob"}},
}
