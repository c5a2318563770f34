package jobtest

import (
	"testing"
	"time"

	"github.com/plinthgo/plinth/asyncx/job/driver"
)

// needsDisconnect skips the check if the harness does not set Disconnect.
func needsDisconnect(run func(t *testing.T, e *env)) func(t *testing.T, e *env) {
	return func(t *testing.T, e *env) {
		if e.Disconnect == nil {
			t.Skip("the harness does not set Disconnect")
		}
		run(t, e)
	}
}

// needsReconnect skips the check if the harness does not set Disconnect and Reconnect.
func needsReconnect(run func(t *testing.T, e *env)) func(t *testing.T, e *env) {
	return needsDisconnect(func(t *testing.T, e *env) {
		if e.Reconnect == nil {
			t.Skip("the harness does not set Reconnect")
		}
		run(t, e)
	})
}

// nextTakenOver waits for the attempt that follows the crash of a worker at the time
// crashed, and fails the test if it is late.
func (w *worker) nextTakenOver(t *testing.T, crashed time.Time, id string, number int) *attempt {
	t.Helper()
	a := w.nextOf(t, id, number)
	timeout := w.e.Capabilities().TakeoverTimeout
	if late := time.Since(crashed) - timeout - w.e.h.LateTolerance - poll; late > 5*time.Second {
		t.Errorf("the takeover was %s later than the timeout of %s", late, timeout)
	}
	return a
}

// awaitCancel waits for the cancellation of the attempt's context.
func (a *attempt) awaitCancel(t *testing.T, e *env) {
	t.Helper()
	select {
	case <-a.ctx.Done():
	case <-time.After(e.h.Timeout):
		t.Errorf("the context of attempt %d is not canceled although the job was reassigned",
			a.Number)
	}
}

var takeoverChecks = []check{
	{"Takeover/AnotherWorkerRunsTheJob", needsDisconnect(func(t *testing.T, e *env) {
		j := newJob(func(j *driver.Job) { j.Meta = map[string]string{"k": "v"} })
		peer := e.connect(t)
		peer.insert(t, j)
		lost := e.work(t).nextOf(t, j.ID, 1)
		e.Disconnect(t)
		crashed := time.Now()
		w := peer.work(t)
		a := w.nextTakenOver(t, crashed, j.ID, 2)
		sameJob(t, "the second attempt", a.Job, j)
		if r := peer.wantState(t, j.ID, driver.Running); r.Attempt != 2 {
			t.Errorf("attempt = %d, want 2", r.Attempt)
		}
		lost.awaitCancel(t, e)
		a.ok()
		peer.awaitDone(t, j.ID)
		w.wantIdle(t, "after it succeeded")
	})},
	{"Takeover/TakenOverIsSetOnce", needsDisconnect(func(t *testing.T, e *env) {
		j := newJob()
		peer := e.connect(t)
		peer.insert(t, j)
		lost := e.work(t).nextOf(t, j.ID, 1)
		e.Disconnect(t)
		w := peer.work(t)
		first := w.nextOf(t, j.ID, 2)
		first.finish(release(0))
		second := w.nextOf(t, j.ID, 2)
		second.finish(retry(0))
		third := w.nextOf(t, j.ID, 3)
		third.ok()
		if lost.TakenOver || !first.TakenOver || second.TakenOver || third.TakenOver {
			t.Errorf("TakenOver = %t first, %t after the crash, %t after a release, "+
				"%t after a failure; want true only after the crash",
				lost.TakenOver, first.TakenOver, second.TakenOver, third.TakenOver)
		}
		peer.awaitDone(t, j.ID)
	})},
	{"Takeover/EachCrashUsesAnAttempt", needsDisconnect(func(t *testing.T, e *env) {
		j := newJob(func(j *driver.Job) { j.MaxAttempts = 1 }) // only the worker enforces it
		e.insert(t, j)
		watcher := e.connect(t)
		r := &e.replica
		for number := range 2 {
			w := r.work(t)
			w.nextOf(t, j.ID, number+1)
			r.Disconnect(t)
			next := e.connect(t)
			r = &next
		}
		r.work(t).nextOf(t, j.ID, 3).ok()
		watcher.awaitDone(t, j.ID)
	})},
	{"Takeover/AllJobsOfACrashedWorker", needsDisconnect(func(t *testing.T, e *env) {
		all := jobs(6)
		e.insert(t, all...)
		peer := e.connect(t)
		w := e.work(t, concurrency(4))
		for range 4 {
			w.next(t)
		}
		e.Disconnect(t)
		second := peer.work(t)
		numbers := map[string]int{}
		for range all {
			a := second.next(t)
			numbers[a.ID] = a.Number
			a.ok()
		}
		sum := 0
		for _, n := range numbers {
			sum += n
		}
		if len(numbers) != 6 || sum != 10 {
			t.Errorf("%d jobs ran, and the sum of their attempt numbers is %d; want 6 and 10",
				len(numbers), sum)
		}
	})},
	{"Takeover/ARunningWorkerKeepsALongJob", func(t *testing.T, e *env) {
		j := newJob()
		e.insert(t, j)
		a := e.work(t).nextOf(t, j.ID, 1)
		peer := e.connect(t)
		w := peer.work(t)
		select {
		case other := <-w.started:
			t.Errorf("attempt %d started while the first is running", other.Number)
			other.ok()
		case <-a.ctx.Done():
			t.Error("the context of the attempt is canceled")
		case <-time.After(2*e.Capabilities().TakeoverTimeout + e.h.LateTolerance):
		}
		a.ok()
		peer.awaitDone(t, j.ID)
		w.wantIdle(t, "after it succeeded")
	}},
	{"Takeover/LateSuccessIsIgnored", needsReconnect(func(t *testing.T, e *env) {
		a, lost, w, peer := reconnectedWorker(t, e)
		lost.ok()
		sleep(e.h.LateTolerance + 4*poll)
		if r := peer.wantState(t, a.ID, driver.Running); r.Attempt != 2 {
			t.Errorf("attempt = %d, want 2", r.Attempt)
		}
		if a.ctx.Err() != nil {
			t.Error("the context of the second attempt is canceled")
		}
		a.finish(retry(0))
		w.nextOf(t, a.ID, 3).ok()
		peer.awaitDone(t, a.ID)
	})},
	{"Takeover/LateFailureIsIgnored", needsReconnect(func(t *testing.T, e *env) {
		a, lost, w, peer := reconnectedWorker(t, e)
		lost.finish(discard("too late"))
		sleep(e.h.LateTolerance + 4*poll)
		peer.wantState(t, a.ID, driver.Running)
		a.ok()
		peer.awaitDone(t, a.ID)
		w.wantIdle(t, "after it succeeded")
		wantIDs(t, "the list of dead jobs",
			peer.list(t, driver.Query{State: driver.Dead, Limit: 10}), nil)
	})},
	{"Takeover/AReconnectedWorkerContinues", needsReconnect(func(t *testing.T, e *env) {
		j := newJob()
		peer := e.connect(t)
		w := e.work(t)
		e.insert(t, j)
		lost := w.nextOf(t, j.ID, 1)
		e.Disconnect(t)
		lost.awaitCancel(t, e)
		e.Reconnect(t)
		lost.finish(retry(0))
		later := newJob(ofKind("kind.later"))
		peer.insert(t, later)
		for { // the reconnected worker runs the job again
			a := w.next(t)
			a.ok()
			if a.ID == j.ID && a.Number > 1 {
				break
			}
		}
		peer.awaitDone(t, j.ID)
	})},
}

// reconnectedWorker returns the lost attempt of a disconnected worker, which has
// reconnected, and the second attempt a at the same job, by worker w of replica peer.
func reconnectedWorker(t *testing.T, e *env) (a, lost *attempt, w *worker, peer *replica) {
	t.Helper()
	j := newJob()
	other := e.connect(t)
	peer = &other
	peer.insert(t, j)
	first := e.work(t)
	lost = first.nextOf(t, j.ID, 1)
	e.Disconnect(t)
	w = peer.work(t)
	a = w.nextOf(t, j.ID, 2)
	lost.awaitCancel(t, e)
	first.cancel() // it must not run another attempt
	e.Reconnect(t)
	return a, lost, w, peer
}
