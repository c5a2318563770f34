package jobtest

import (
	"slices"
	"testing"
	"time"

	"github.com/plinthgo/plinth/asyncx/job/driver"
)

// wantIDs fails the test if got does not have the IDs of want, in that order.
func wantIDs(t *testing.T, subject string, got []driver.Record, want []string) {
	t.Helper()
	var have []string
	for _, r := range got {
		have = append(have, r.ID)
	}
	if !slices.Equal(have, want) {
		t.Errorf("%s has %d records or another order, want %d:\n%v, want\n%v",
			subject, len(have), len(want), have, want)
	}
}

var listChecks = []check{
	{"List/OrderedByID", func(t *testing.T, e *env) {
		all := jobs(20, delay(time.Hour))
		want := ids(all)
		for i, j := range slices.Backward(all) {
			j.Delay += time.Duration(i%3) * time.Minute
			j.Priority = 1 + i%4
			e.insert(t, j)
		}
		for _, size := range []int{1, 7, 10, 20, 21} {
			after := ""
			for first := 0; first < len(want); first += size {
				page := want[first:min(first+size, len(want))]
				wantIDs(t, "a page",
					e.list(t, driver.Query{State: driver.Waiting, After: after, Limit: size}), page)
				after = page[len(page)-1]
			}
			wantIDs(t, "the page after the last",
				e.list(t, driver.Query{State: driver.Waiting, After: after, Limit: size}), nil)
		}
	}},
	{"List/ContinuesAfterADeletedJob", func(t *testing.T, e *env) {
		all := jobs(4, delay(time.Hour))
		e.insert(t, all...)
		if err := e.Delete(e.ctx, all[1].ID); err != nil {
			t.Fatalf("Delete: %v", err)
		}
		wantIDs(t, "the page", e.list(t,
			driver.Query{State: driver.Waiting, After: all[1].ID, Limit: 10}), ids(all[2:]))
	}},
	{"List/FiltersByKind", func(t *testing.T, e *env) {
		a, b := jobs(3, delay(time.Hour), ofKind("kind.a")),
			jobs(2, delay(time.Hour), ofKind("kind.b"))
		e.insert(t, slices.Concat(a, b)...)
		wantIDs(t, "the list of a kind",
			e.list(t, driver.Query{State: driver.Waiting, Kind: "kind.a", Limit: 10}), ids(a))
		wantIDs(t, "the list of the other kind",
			e.list(t, driver.Query{State: driver.Waiting, Kind: "kind.b", Limit: 10}), ids(b))
		wantIDs(t, "the list of all",
			e.list(t, driver.Query{State: driver.Waiting, Limit: 10}), ids(slices.Concat(a, b)))
		wantIDs(t, "the list of an unknown kind",
			e.list(t, driver.Query{State: driver.Waiting, Kind: "kind", Limit: 10}), nil)
	}},
	{"List/PaginatesOneKind", func(t *testing.T, e *env) {
		var a []driver.Job
		for range 5 {
			a = append(a, newJob(delay(time.Hour), ofKind("kind.a")))
			e.insert(t, a[len(a)-1], newJob(delay(time.Hour), ofKind("kind.b")))
		}
		wantIDs(t, "the first page",
			e.list(t, driver.Query{State: driver.Waiting, Kind: "kind.a", Limit: 3}), ids(a[:3]))
		wantIDs(t, "the next page",
			e.list(t, driver.Query{
				State: driver.Waiting, Kind: "kind.a", After: a[2].ID, Limit: 3,
			}), ids(a[3:]))
	}},
	{"List/FiltersByState", func(t *testing.T, e *env) {
		all := jobs(4)
		e.insert(t, all[0])
		w := e.work(t)
		w.next(t).finish(driver.Outcome{Action: driver.Discard, Error: "no"})
		e.awaitState(t, all[0].ID, driver.Dead)
		e.insert(t, all[1])
		running := w.nextOf(t, all[1].ID, 1)
		all[3].Delay = time.Hour
		e.insert(t, all[2:]...)
		wantIDs(t, "the list of dead jobs",
			e.list(t, driver.Query{State: driver.Dead, Limit: 10}), ids(all[:1]))
		wantIDs(t, "the list of running jobs",
			e.list(t, driver.Query{State: driver.Running, Limit: 10}), ids(all[1:2]))
		wantIDs(t, "the list of waiting jobs",
			e.list(t, driver.Query{State: driver.Waiting, Limit: 10}), ids(all[2:]))
		running.ok()
	}},
	{"List/ReturnsCompleteRecords", func(t *testing.T, e *env) {
		j := newJob(priority(1), func(j *driver.Job) {
			j.Args, j.Meta = []byte(`{"a":"b"}`), map[string]string{"k": "v"}
		})
		e.insert(t, j)
		e.work(t).next(t).finish(driver.Outcome{Action: driver.Discard, Error: "bad input"})
		got := e.awaitState(t, j.ID, driver.Dead)
		page := e.list(t, driver.Query{State: driver.Dead, Kind: kind, Limit: 1})
		if len(page) != 1 {
			t.Fatalf("%d jobs are dead, want 1", len(page))
		}
		r := page[0]
		sameJob(t, "the listed record", r.Job, j)
		if r.State != got.State || r.Attempt != 1 || got.Attempt != 1 ||
			r.Error != "bad input" || got.Error != r.Error {
			t.Errorf("state, attempt, error = %s, %d, %q from List and %s, %d, %q from Get; "+
				"want dead, 1, bad input",
				r.State, r.Attempt, r.Error, got.State, got.Attempt, got.Error)
		}
		if !r.CreatedAt.Equal(got.CreatedAt) || !r.RunAt.Equal(got.RunAt) {
			t.Errorf("CreatedAt, RunAt = %s, %s from List and %s, %s from Get",
				r.CreatedAt, r.RunAt, got.CreatedAt, got.RunAt)
		}
	}},
}
