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
	"github.com/plinthgo/plinth/asyncx/job/internal/memory"
	"github.com/plinthgo/plinth/core/major/xdb/transaction"
)

var errBroken = errors.New("broken on purpose")

// defect breaks an engine, and names the checks that must find out.
type defect struct {
	breaks func(b *broken)
	found  []string
}

// defects of storing and listing.
var storeDefects = map[string]defect{
	"null is an object": {stored(func(j *driver.Job) {
		j.Args = bytes.ReplaceAll(j.Args, []byte("null"), []byte("{}"))
	}), []string{
		"Store/ArgumentsOfEveryJSONType",
	}},
	"no NUL": {stored(func(j *driver.Job) {
		j.Args = bytes.ReplaceAll(j.Args, []byte(` \u0000`), nil)
	}), []string{
		"Store/ArgumentsOfAnyText",
	}},
	"numbers are floating": {stored(func(j *driver.Job) {
		j.Args = bytes.ReplaceAll(j.Args, []byte("9007199254740993"), []byte("9007199254740992"))
	}), []string{"Store/AJobIsRunOnceAsItWasStored"}},
	"short arguments": {func(b *broken) {
		b.insert = func(ctx context.Context, jobs []driver.Job) error {
			if slices.ContainsFunc(jobs, func(j driver.Job) bool { return len(j.Args) > 1<<16 }) {
				return errBroken
			}
			return b.right.Insert(ctx, jobs)
		}
	}, []string{"Store/ArgumentsOfOneMebibyte"}},
	"no empty meta": {stored(func(j *driver.Job) {
		j.Meta = maps.Clone(j.Meta)
		delete(j.Meta, "a")
	}), []string{"Store/MetaOfAnyText"}},
	"short kinds": {
		stored(func(j *driver.Job) { j.Kind = j.Kind[:min(len(j.Kind), 64)] }),
		[]string{"Store/LongestKind"},
	},
	"half a batch": {func(b *broken) {
		b.insert = func(ctx context.Context, jobs []driver.Job) error {
			return b.right.Insert(ctx, jobs[:(len(jobs)+1)/2])
		}
	}, []string{
		"Store/ABatchIsStoredWhole", "Transaction/ABatchIsStoredWhole",
		"List/IsOfOneKind",
	}},
	"one by one": {func(b *broken) {
		b.insert = func(ctx context.Context, jobs []driver.Job) error {
			for _, j := range jobs {
				if err := b.right.Insert(ctx, []driver.Job{j}); err != nil {
					return err
				}
			}
			return nil
		}
	}, []string{
		"Store/ABatchWithAnIDThatIsThereIsNotStored",
		"Store/ABatchWithAnIDTwiceIsNotStored",
	}},
	"its own jobs only": {func(b *broken) {
		own := map[string]bool{}
		b.insert = func(ctx context.Context, jobs []driver.Job) error {
			for _, j := range jobs {
				own[j.ID] = true
			}
			return b.right.Insert(ctx, jobs)
		}
		ran(func(_ *broken, _, ctx context.Context, a driver.Attempt, run runner) driver.Outcome {
			if !own[a.ID] {
				return driver.Outcome{Action: driver.Release, Wait: 100 * time.Millisecond}
			}
			return run(ctx, a)
		})(b)
	}, []string{"Store/AReplicaRunsWhatAnotherStored"}},
	"nothing runs": {func(b *broken) {
		b.get = func(ctx context.Context, id string) (driver.Record, error) {
			r, err := b.right.Get(ctx, id)
			r.State = driver.Waiting
			return r, err
		}
	}, []string{"Store/GetTellsOfAJobsLife", "Death/AnotherWorkerTakesOver"}},
	"the unknown is nothing": {func(b *broken) {
		b.get = func(ctx context.Context, id string) (driver.Record, error) {
			r, err := b.right.Get(ctx, id)
			if errors.Is(err, driver.ErrNotFound) {
				err = nil
			}
			return r, err
		}
	}, []string{"Store/AnUnknownJobIsNotFound"}},
	"backwards": {listed(func(page []driver.Record) []driver.Record {
		slices.Reverse(page)
		return page
	}), []string{"List/PagesAreInTheOrderOfIDs"}},
	"after must be there": {func(b *broken) {
		b.list = func(ctx context.Context, q driver.Query) ([]driver.Record, error) {
			if _, err := b.right.Get(ctx, q.After); err != nil {
				q.After = ""
			}
			return b.right.List(ctx, q)
		}
	}, []string{"List/GoesOnAfterAJobThatIsGone"}},
	"kinds by prefix": {func(b *broken) {
		b.list = func(ctx context.Context, q driver.Query) ([]driver.Record, error) {
			kind := q.Kind
			q.Kind = ""
			page, err := b.right.List(ctx, q)
			return slices.DeleteFunc(page,
				func(r driver.Record) bool { return !strings.HasPrefix(r.Kind, kind) }), err
		}
	}, []string{"List/IsOfOneKind"}},
	"kinds of a page": {func(b *broken) {
		b.list = func(ctx context.Context, q driver.Query) ([]driver.Record, error) {
			kind := q.Kind
			q.Kind = ""
			page, err := b.right.List(ctx, q)
			return slices.DeleteFunc(page,
				func(r driver.Record) bool { return kind != "" && r.Kind != kind }), err
		}
	}, []string{"List/PagesOfOneKind"}},
	"running is waiting": {func(b *broken) {
		b.list = func(ctx context.Context, q driver.Query) ([]driver.Record, error) {
			page, err := b.right.List(ctx, q)
			if q.State == driver.Waiting {
				q.State = driver.Running
				more, _ := b.right.List(ctx, q)
				page = append(more, page...)
			}
			return page, err
		}
	}, []string{"List/IsOfOneState"}},
	"a list without errors": {listed(func(page []driver.Record) []driver.Record {
		for i := range page {
			page[i].Error = ""
		}
		return page
	}), []string{"List/HasWholeRecords"}},
	"no transactions": {func(b *broken) {
		b.insert = func(ctx context.Context, jobs []driver.Job) error {
			return b.right.Insert(transaction.Without(ctx), jobs)
		}
	}, []string{
		"Transaction/AJobIsThereFromTheCommitOn", "Transaction/AJobThatIsRolledBackNeverRuns",
		"Transaction/AJobOfASavepointThatIsRolledBackNeverRuns",
		"Transaction/AJobOfASavepointEndsWithTheTransaction",
	}},
}

// defects of the order and of outcomes.
var orderDefects = map[string]defect{
	"half a delay": {
		stored(func(j *driver.Job) { j.Delay /= 2 }),
		[]string{"Order/ADelayIsWaitedFor"},
	},
	"delays are capped": {stored(func(j *driver.Job) {
		j.Delay = min(j.Delay, 100*time.Millisecond)
	}), []string{"Order/ADelayOfAnHourIsNotOver"}},
	"no priorities": {stored(func(j *driver.Job) { j.Priority = 3 }), []string{
		"Order/ASmallerPriorityComesFirst", "Order/AnUrgentJobOvertakesThoseThatWait",
		"Order/PriorityIsAcrossKinds",
	}},
	"one more at a time": {
		worked(func(w *driver.Work) { w.Concurrency++ }),
		[]string{"Order/ConcurrencyIsReachedAndNotExceeded"},
	},
	"one less at a time": {
		worked(func(w *driver.Work) { w.Concurrency = max(1, w.Concurrency-1) }),
		[]string{
			"Order/ConcurrencyIsReachedAndNotExceeded",
		},
	},
	"twice as many": {
		worked(func(w *driver.Work) { w.Concurrency *= 2 }),
		[]string{"Order/ConcurrencyHoldsUnderLoad"},
	},
	"other kinds are tried": {func(b *broken) {
		b.work = func(ctx context.Context, w driver.Work) error {
			own, run := w.Kinds, w.Run
			w.Kinds = append(slices.Clone(own), "kind.other")
			w.Run = func(ctx context.Context, a driver.Attempt) driver.Outcome {
				if !slices.Contains(own, a.Kind) {
					return driver.Outcome{Action: driver.Retry, Wait: time.Second}
				}
				return run(ctx, a)
			}
			return b.right.Work(ctx, w)
		}
	}, []string{"Order/JobsOfOtherKindsStayAsTheyAre"}},
	"runs twice": {settled(func(a driver.Attempt, o *driver.Outcome) {
		if o.Action == driver.Complete && a.Number == 1 {
			o.Action = driver.Retry
		}
	}), []string{
		"Store/AJobIsRunOnceAsItWasStored", "Crowd/EachJobRunsOnceWhoeverTakesIt",
		"Crowd/JobsThatComeMeanwhileRunOnce",
	}},
	"no waits": {settled(func(_ driver.Attempt, o *driver.Outcome) { o.Wait = 0 }), []string{
		"Outcome/ARetryWaits", "Outcome/AReturnWaits", "Outcome/AReturnGivesTheNumberBack",
	}},
	"no errors": {settled(func(_ driver.Attempt, o *driver.Outcome) { o.Error = "" }), []string{
		"Outcome/AJobThatWaitsForARetryShowsWhy", "Outcome/ABuriedJobIsDeadWithItsError",
		"Stop/SettlesAFailure",
	}},
	"short errors": {settled(func(_ driver.Attempt, o *driver.Outcome) {
		o.Error = o.Error[:min(len(o.Error), 255)]
	}), []string{
		"Outcome/AnErrorIsKeptAsItIs",
	}},
	"the engine buries": {settled(func(a driver.Attempt, o *driver.Outcome) {
		if o.Action == driver.Retry && a.Number >= a.MaxAttempts {
			o.Action = driver.Discard
		}
	}), []string{"Outcome/RetriesCountAndOnlyTheWorkerEndsThem"}},
	"a retry keeps its place": {settled(func(_ driver.Attempt, o *driver.Outcome) {
		if o.Action == driver.Retry {
			<-time.After(min(o.Wait, 5*time.Second))
		}
	}), []string{"Outcome/ARetryDoesNotHoldUpOthers"}},
	"the dead rise": {settled(func(_ driver.Attempt, o *driver.Outcome) {
		if o.Action == driver.Discard {
			o.Action = driver.Retry
		}
	}), []string{"Outcome/ABuriedJobIsDeadWithItsError", "Stop/SettlesADeath"}},
	"snoozes count": {settled(func(_ driver.Attempt, o *driver.Outcome) {
		if o.Action == driver.Release {
			o.Action = driver.Retry
		}
	}), []string{"Outcome/AReturnGivesTheNumberBack", "Stop/WhatIsGivenBackIsForOthersAtOnce"}},
	"the dead are lost": {settled(func(_ driver.Attempt, o *driver.Outcome) {
		if o.Action == driver.Discard {
			o.Action = driver.Complete
		}
	}), []string{"Crowd/OutcomesOfManyAreAllKept"}},
	"a replay goes on counting": {func(b *broken) {
		var replayed atomic.Bool
		b.replay = func(ctx context.Context, id string) error {
			replayed.Store(true)
			return b.right.Replay(ctx, id)
		}
		b.get = func(ctx context.Context, id string) (driver.Record, error) {
			r, err := b.right.Get(ctx, id)
			if replayed.Load() {
				r.Attempt += 2
			}
			return r, err
		}
		numbered(func(a *driver.Attempt) {
			if replayed.Load() {
				a.Number += 2
			}
		})(b)
	}, []string{"Replay/RunsADeadJobFromItsFirstAttemptOn", "Replay/LetsTheJobWait"}},
	"any state will do": {func(b *broken) {
		lax := func(do func(ctx context.Context, id string) error) func(ctx context.Context,
			id string) error {
			return func(ctx context.Context, id string) error {
				if err := do(ctx, id); !errors.Is(err, driver.ErrState) {
					return err
				}
				return nil
			}
		}
		b.replay, b.remove = lax(b.right.Replay), lax(b.right.Delete)
	}, []string{"Replay/OnlyOfADeadJob", "Replay/ManyAtOnceAreOne", "Delete/NotOfARunningJob"}},
	"deleted is hidden": {func(b *broken) {
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
			return b.right.Get(ctx, id)
		}
	}, []string{
		"Delete/AWaitingJobNeverRuns", "Delete/AJobThatWaitsForARetryNeverRuns",
		"Delete/ADeadJobIsGone",
	}},
}

// once lets an engine work once.
func once(b *broken) {
	var worked atomic.Bool
	b.work = func(ctx context.Context, w driver.Work) error {
		if worked.Swap(true) {
			return errBroken
		}
		return b.right.Work(ctx, w)
	}
}

// defects of workers that die or stop, and of calls.
var workerDefects = map[string]defect{
	"always the first attempt": {numbered(func(a *driver.Attempt) { a.Number = 1 }), []string{
		"Death/AnotherWorkerTakesOver", "Death/EachDeathUsesUpAnAttempt",
		"Death/AllJobsOfADeadWorkerAreTakenOver",
	}},
	"deaths are secret": {
		numbered(func(a *driver.Attempt) { a.TakenOver = false }),
		[]string{"Death/ATakeOverIsToldOnce"},
	},
	"dead for ever": {
		numbered(func(a *driver.Attempt) { a.TakenOver = a.Number > 1 }),
		[]string{"Death/ATakeOverIsToldOnce"},
	},
	"no sign of life": {ran(func(b *broken, _, ctx context.Context, a driver.Attempt,
		run runner,
	) driver.Outcome {
		if a.Number == 1 {
			b.right.SetAway(true)
		}
		return run(ctx, a)
	}), []string{"Death/ALivingWorkerKeepsALongJob"}},
	"whoever ends it": {ran(func(b *broken, _, ctx context.Context, a driver.Attempt,
		run runner,
	) driver.Outcome {
		o := run(ctx, a)
		if ctx.Err() != nil {
			b.store.Forget(a.ID)
		}
		return o
	}), []string{"Death/ALateSuccessDoesNotCount", "Death/ALateFailureDoesNotCount"}},
	"gone is gone": {func(b *broken) {
		var lost atomic.Bool
		ran(func(_ *broken, _, ctx context.Context, a driver.Attempt, run runner) driver.Outcome {
			if lost.Load() {
				return driver.Outcome{Action: driver.Release, Wait: 100 * time.Millisecond}
			}
			o := run(ctx, a)
			lost.CompareAndSwap(false, ctx.Err() != nil)
			return o
		})(b)
	}, []string{"Death/AWorkerThatWasAwayGoesOn"}},
	"cut off at once": {ran(func(_ *broken, work, ctx context.Context, a driver.Attempt,
		run runner,
	) driver.Outcome {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(work, cancel)()
		return run(ctx, a)
	}), []string{"Stop/WaitsForWhatRunsAndBeginsNothing"}},
	"what ends after the stop is given back": {ran(func(_ *broken, work, ctx context.Context,
		a driver.Attempt, run runner,
	) driver.Outcome {
		o := run(ctx, a)
		if work.Err() != nil {
			o.Action = driver.Release
		}
		return o
	}), []string{
		"Stop/SettlesAFailure", "Stop/SettlesADeath",
		"Stop/WaitsForWhatRunsAndBeginsNothing",
	}},
	"more than it does": {func(b *broken) {
		b.work = func(ctx context.Context, w driver.Work) error {
			err := b.right.Work(ctx, w)
			ahead, cancel := context.WithTimeout(context.WithoutCancel(ctx), 200*time.Millisecond)
			defer cancel()
			w.Run = func(context.Context, driver.Attempt) driver.Outcome {
				return driver.Outcome{Action: driver.Retry}
			}
			return errors.Join(err, b.right.Work(ahead, w))
		}
	}, []string{"Stop/WhatWaitsIsForOthersAtOnce"}},
	"slow to stop": {func(b *broken) {
		b.work = func(ctx context.Context, w driver.Work) error {
			err := b.right.Work(ctx, w)
			<-time.After(6 * time.Second)
			return err
		}
	}, []string{"Stop/OfAnIdleWorkerIsQuick", "Outage/TheStopDoesNotHang"}},
	"works before it looks": {func(b *broken) {
		b.work = func(ctx context.Context, w driver.Work) error {
			if ctx.Err() != nil {
				late, cancel := context.WithTimeout(context.WithoutCancel(ctx),
					200*time.Millisecond)
				defer cancel()
				return b.right.Work(late, w)
			}
			return b.right.Work(ctx, w)
		}
	}, []string{"Stop/BeforeTheBeginning"}},
	"works once": {once, []string{"Stop/AnEngineCanWorkAgain", "Crowd/TwoWorkersOfOneEngine"}},
	"a context of its own": {ran(func(_ *broken, _, _ context.Context, a driver.Attempt,
		run runner,
	) driver.Outcome {
		return run(context.Background(), a)
	}), []string{"Stop/AnAttemptsContextHasTheValuesOfWork", "Death/AnotherWorkerTakesOver"}},
	"no name": {func(b *broken) { b.capabilities.Name = "" }, []string{"Calls/TraitsAreWhole"}},
	"of old": {
		func(b *broken) { b.capabilities.Interface = driver.InterfaceVersion - 1 },
		[]string{"Calls/TraitsAreWhole"},
	},
	"no answer": {
		func(b *broken) { b.ping = func(context.Context) error { return errBroken } },
		[]string{"Calls/PingAnswers"},
	},
	"blind in a transaction": {func(b *broken) {
		b.get = func(ctx context.Context, id string) (driver.Record, error) {
			if transaction.In(ctx) {
				return driver.Record{}, errBroken
			}
			return b.right.Get(ctx, id)
		}
	}, []string{"Store/WhatIsNoIDIsNotFound"}},
	"contexts are nothing": {func(b *broken) {
		b.get = func(ctx context.Context, id string) (driver.Record, error) {
			return b.right.Get(context.WithoutCancel(ctx), id)
		}
	}, []string{"Calls/EndWithTheirContext"}},
	"never closed": {
		func(b *broken) { b.closing = func() error { return nil } },
		[]string{"Calls/AfterCloseAreRefused"},
	},
	"a goroutine stays": {func(b *broken) {
		b.work = func(ctx context.Context, w driver.Work) error {
			go func() { <-time.After(time.Minute) }()
			return b.right.Work(ctx, w)
		}
	}, []string{"Calls/NoGoroutineIsLeft"}},
	"silent": {
		worked(func(w *driver.Work) { w.OnError = func(context.Context, string, error) {} }),
		[]string{
			"Outage/TheWorkGoesOnAfterwards",
		},
	},
	"never again": {func(b *broken) {
		var failed atomic.Bool
		b.work = func(ctx context.Context, w driver.Work) error {
			run, told := w.Run, w.OnError
			w.OnError = func(ctx context.Context, what string, err error) {
				failed.Store(errors.Is(err, memory.ErrAway))
				told(ctx, what, err)
			}
			w.Run = func(ctx context.Context, a driver.Attempt) driver.Outcome {
				if failed.Load() {
					return driver.Outcome{Action: driver.Release, Wait: 100 * time.Millisecond}
				}
				o := run(ctx, a)
				o.Action = driver.Release
				return o
			}
			return b.right.Work(ctx, w)
		}
	}, []string{"Outage/TheWorkGoesOnAfterwards", "Outage/AJobThatEndsMeanwhileIsNotLost"}},
}
