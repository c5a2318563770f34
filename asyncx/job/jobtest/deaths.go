package jobtest

import (
	"testing"
	"time"

	"github.com/plinthgo/plinth/asyncx/job/driver"
)

// mortal skips the check where the harness cannot let a worker die.
func mortal(run func(t *testing.T, e *env)) func(t *testing.T, e *env) {
	return func(t *testing.T, e *env) {
		if e.Disconnect == nil {
			t.Skip("the harness has no Disconnect")
		}
		run(t, e)
	}
}

// frozen skips the check where the harness cannot bring a worker back either.
func frozen(run func(t *testing.T, e *env)) func(t *testing.T, e *env) {
	return mortal(func(t *testing.T, e *env) {
		if e.Reconnect == nil {
			t.Skip("the harness has no Reconnect")
		}
		run(t, e)
	})
}

// takenOver waits for the attempt that follows the death of a worker at that moment, and
// fails where it is late.
func (w *worker) takenOver(t *testing.T, died time.Time, id string, number int) *attempt {
	t.Helper()
	a := w.nextOf(t, id, number)
	if late := time.Since(died) - w.e.Capabilities().TakeoverTimeout - w.e.h.LateTolerance - poll; late > 5*time.Second {
		t.Errorf("the job was taken over %s after the promised %s",
			late, w.e.Capabilities().TakeoverTimeout)
	}
	return a
}

// ends waits for the end of the attempt's context.
func (a *attempt) ends(t *testing.T, e *env) {
	t.Helper()
	select {
	case <-a.ctx.Done():
	case <-time.After(e.h.Timeout):
		t.Errorf("the context of attempt %d goes on although the job is somebody else's", a.Number)
	}
}

var deathChecks = []check{
	{"Death/AnotherWorkerTakesOver", mortal(func(t *testing.T, e *env) {
		j := newJob(func(j *driver.Job) { j.Meta = map[string]string{"k": "v"} })
		peer := e.connect(t)
		peer.insert(t, j)
		lost := e.work(t).nextOf(t, j.ID, 1)
		e.Disconnect(t)
		died := time.Now()
		w := peer.work(t)
		a := w.takenOver(t, died, j.ID, 2)
		sameJob(t, "the second attempt", a.Job, j)
		if r := peer.wantState(t, j.ID, driver.Running); r.Attempt != 2 {
			t.Errorf("attempt = %d, want 2", r.Attempt)
		}
		lost.ends(t, e)
		a.ok()
		peer.awaitDone(t, j.ID)
		w.quiet(t, "which has succeeded")
	})},
	{"Death/ATakeOverIsToldOnce", mortal(func(t *testing.T, e *env) {
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
			t.Errorf("TakenOver = %t at first, %t after the death, %t once that was given back, %t after a failure; want the second one only",
				lost.TakenOver, first.TakenOver, second.TakenOver, third.TakenOver)
		}
		peer.awaitDone(t, j.ID)
	})},
	{"Death/EachDeathUsesUpAnAttempt", mortal(func(t *testing.T, e *env) {
		j := newJob(func(j *driver.Job) { j.MaxAttempts = 1 }) // who ends it is the worker
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
	{"Death/AllJobsOfADeadWorkerAreTakenOver", mortal(func(t *testing.T, e *env) {
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
			t.Errorf("%d jobs ran, with attempts that sum up to %d; want 6 and 10",
				len(numbers), sum)
		}
	})},
	{"Death/ALivingWorkerKeepsALongJob", func(t *testing.T, e *env) {
		j := newJob()
		e.insert(t, j)
		a := e.work(t).nextOf(t, j.ID, 1)
		peer := e.connect(t)
		w := peer.work(t)
		select {
		case other := <-w.begun:
			t.Errorf("attempt %d has begun while the first goes on", other.Number)
			other.ok()
		case <-a.ctx.Done():
			t.Error("the context of the attempt has ended")
		case <-time.After(2*e.Capabilities().TakeoverTimeout + e.h.LateTolerance):
		}
		a.ok()
		peer.awaitDone(t, j.ID)
		w.quiet(t, "which has succeeded")
	}},
	{"Death/ALateSuccessDoesNotCount", frozen(func(t *testing.T, e *env) {
		a, lost, w, peer := revived(t, e)
		lost.ok()
		pass(e.h.LateTolerance + 4*poll)
		if r := peer.wantState(t, a.ID, driver.Running); r.Attempt != 2 {
			t.Errorf("attempt = %d, want 2", r.Attempt)
		}
		if a.ctx.Err() != nil {
			t.Error("the context of the second attempt has ended")
		}
		a.finish(retry(0))
		w.nextOf(t, a.ID, 3).ok()
		peer.awaitDone(t, a.ID)
	})},
	{"Death/ALateFailureDoesNotCount", frozen(func(t *testing.T, e *env) {
		a, lost, w, peer := revived(t, e)
		lost.finish(discard("from the grave"))
		pass(e.h.LateTolerance + 4*poll)
		peer.wantState(t, a.ID, driver.Running)
		a.ok()
		peer.awaitDone(t, a.ID)
		w.quiet(t, "which has succeeded")
		wantIDs(t, "the list of dead jobs",
			peer.list(t, driver.Query{State: driver.Dead, Limit: 10}), nil)
	})},
	{"Death/AWorkerThatWasAwayGoesOn", frozen(func(t *testing.T, e *env) {
		j := newJob()
		peer := e.connect(t)
		w := e.work(t)
		e.insert(t, j)
		lost := w.nextOf(t, j.ID, 1)
		e.Disconnect(t)
		lost.ends(t, e)
		e.Reconnect(t)
		lost.finish(retry(0))
		later := newJob(ofKind("kind.later"))
		peer.insert(t, later)
		for { // the first job runs again, here too
			a := w.next(t)
			a.ok()
			if a.ID == j.ID && a.Number > 1 {
				break
			}
		}
		peer.awaitDone(t, j.ID)
	})},
}

// revived returns an attempt at a job that was lost by a worker which has come back, and
// that lost attempt.
func revived(t *testing.T, e *env) (a, lost *attempt, w *worker, peer *replica) {
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
	lost.ends(t, e)
	first.cancel() // it takes nothing that the second leaves
	e.Reconnect(t)
	return a, lost, w, peer
}
