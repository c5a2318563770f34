package jobtest_test

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/plinthgo/plinth/asyncx/job/driver"
	"github.com/plinthgo/plinth/asyncx/job/internal/memory"
	"github.com/plinthgo/plinth/core/major/xdb/transaction"
)

// workOnce makes each call of Work after the first fail.
func workOnce(b *broken) {
	var worked atomic.Bool
	b.work = func(ctx context.Context, w driver.Work) error {
		if worked.Swap(true) {
			return errBroken
		}
		return b.base.Work(ctx, w)
	}
}

// workerDefects concern takeover, shutdown, calls and outages.
var workerDefects = map[string]defect{
	"always the first attempt": {changeAttempt(func(a *driver.Attempt) { a.Number = 1 }), []string{
		"Takeover/AnotherWorkerRunsTheJob", "Takeover/EachCrashUsesAnAttempt",
		"Takeover/AllJobsOfACrashedWorker",
	}},
	"TakenOver is never set": {
		changeAttempt(func(a *driver.Attempt) { a.TakenOver = false }),
		[]string{"Takeover/TakenOverIsSetOnce"},
	},
	"TakenOver is never cleared": {
		changeAttempt(func(a *driver.Attempt) { a.TakenOver = a.Number > 1 }),
		[]string{"Takeover/TakenOverIsSetOnce"},
	},
	"claims are not renewed": {wrapRun(func(
		b *broken, _, ctx context.Context, a driver.Attempt, run runFunc,
	) driver.Outcome {
		if a.Number == 1 {
			b.base.SetAway(true)
		}
		return run(ctx, a)
	}), []string{"Takeover/ARunningWorkerKeepsALongJob"}},
	"late outcomes count": {wrapRun(func(
		b *broken, _, ctx context.Context, a driver.Attempt, run runFunc,
	) driver.Outcome {
		o := run(ctx, a)
		if ctx.Err() != nil {
			b.store.Forget(a.ID)
		}
		return o
	}), []string{"Takeover/LateSuccessIsIgnored", "Takeover/LateFailureIsIgnored"}},
	"reconnected workers stay idle": {func(b *broken) {
		var lost atomic.Bool
		wrapRun(func(
			_ *broken, _, ctx context.Context, a driver.Attempt, run runFunc,
		) driver.Outcome {
			if lost.Load() {
				return driver.Outcome{Action: driver.Release, Wait: 100 * time.Millisecond}
			}
			o := run(ctx, a)
			lost.CompareAndSwap(false, ctx.Err() != nil)
			return o
		})(b)
	}, []string{"Takeover/AReconnectedWorkerContinues"}},
	"shutdown cancels attempts": {wrapRun(func(
		_ *broken, work, ctx context.Context, a driver.Attempt, run runFunc,
	) driver.Outcome {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(work, cancel)()
		return run(ctx, a)
	}), []string{"Shutdown/WaitsForRunningJobs"}},
	"outcomes after shutdown are released": {wrapRun(func(
		_ *broken, work, ctx context.Context, a driver.Attempt, run runFunc,
	) driver.Outcome {
		o := run(ctx, a)
		if work.Err() != nil {
			o.Action = driver.Release
		}
		return o
	}), []string{
		"Shutdown/StoresAFailure", "Shutdown/StoresADiscard", "Shutdown/WaitsForRunningJobs",
	}},
	"shutdown claims more jobs": {func(b *broken) {
		b.work = func(ctx context.Context, w driver.Work) error {
			err := b.base.Work(ctx, w)
			ahead, cancel := context.WithTimeout(context.WithoutCancel(ctx), 200*time.Millisecond)
			defer cancel()
			w.Run = func(context.Context, driver.Attempt) driver.Outcome {
				return driver.Outcome{Action: driver.Retry}
			}
			return errors.Join(err, b.base.Work(ahead, w))
		}
	}, []string{"Shutdown/WaitingJobsAreAvailableImmediately"}},
	"shutdown is slow": {func(b *broken) {
		b.work = func(ctx context.Context, w driver.Work) error {
			err := b.base.Work(ctx, w)
			<-time.After(6 * time.Second)
			return err
		}
	}, []string{"Shutdown/IdleWorkerStopsQuickly", "Outage/ShutdownDoesNotHang"}},
	"canceled context is ignored": {func(b *broken) {
		b.work = func(ctx context.Context, w driver.Work) error {
			if ctx.Err() != nil {
				late, cancel := context.WithTimeout(context.WithoutCancel(ctx),
					200*time.Millisecond)
				defer cancel()
				return b.base.Work(late, w)
			}
			return b.base.Work(ctx, w)
		}
	}, []string{"Shutdown/CanceledBeforeWork"}},
	"Work runs only once": {
		workOnce,
		[]string{"Shutdown/WorkCanBeCalledAgain", "Concurrency/TwoWorkersOnOneEngine"},
	},
	"context has no values": {wrapRun(func(
		_ *broken, _, _ context.Context, a driver.Attempt, run runFunc,
	) driver.Outcome {
		return run(context.Background(), a)
	}), []string{"Shutdown/AttemptContextHasTheValuesOfWork", "Takeover/AnotherWorkerRunsTheJob"}},
	"no name": {func(b *broken) { b.capabilities.Name = "" }, []string{"Calls/Capabilities"}},
	"old interface version": {
		func(b *broken) { b.capabilities.Interface = driver.InterfaceVersion - 1 },
		[]string{"Calls/Capabilities"},
	},
	"Ping fails": {
		func(b *broken) { b.ping = func(context.Context) error { return errBroken } },
		[]string{"Calls/Ping"},
	},
	"Get fails in a transaction": {func(b *broken) {
		b.get = func(ctx context.Context, id string) (driver.Record, error) {
			if transaction.In(ctx) {
				return driver.Record{}, errBroken
			}
			return b.base.Get(ctx, id)
		}
	}, []string{"Store/InvalidID"}},
	"contexts are ignored": {func(b *broken) {
		b.get = func(ctx context.Context, id string) (driver.Record, error) {
			return b.base.Get(context.WithoutCancel(ctx), id)
		}
	}, []string{"Calls/ReturnContextError"}},
	"Close has no effect": {
		func(b *broken) { b.close = func() error { return nil } },
		[]string{"Calls/FailAfterClose"},
	},
	"a goroutine leaks": {func(b *broken) {
		b.work = func(ctx context.Context, w driver.Work) error {
			go func() { <-time.After(time.Minute) }()
			return b.base.Work(ctx, w)
		}
	}, []string{"Calls/NoGoroutineLeaks"}},
	"outages are not reported": {
		changeWork(func(w *driver.Work) { w.OnError = func(context.Context, string, error) {} }),
		[]string{"Outage/WorkContinuesAfterwards"},
	},
	"no recovery after an outage": {func(b *broken) {
		var failed atomic.Bool
		b.work = func(ctx context.Context, w driver.Work) error {
			run, onError := w.Run, w.OnError
			w.OnError = func(ctx context.Context, operation string, err error) {
				failed.Store(errors.Is(err, memory.ErrAway))
				onError(ctx, operation, err)
			}
			w.Run = func(ctx context.Context, a driver.Attempt) driver.Outcome {
				if failed.Load() {
					return driver.Outcome{Action: driver.Release, Wait: 100 * time.Millisecond}
				}
				o := run(ctx, a)
				o.Action = driver.Release
				return o
			}
			return b.base.Work(ctx, w)
		}
	}, []string{
		"Outage/WorkContinuesAfterwards",
		"Outage/AJobThatFinishesDuringTheOutageIsNotLost",
	}},
}
