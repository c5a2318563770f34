package jobtest

import (
	"context"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/plinthgo/plinth/asyncx/job"
	"github.com/plinthgo/plinth/asyncx/job/driver"
	"github.com/plinthgo/plinth/core/common/xutil"
)

// clocks is how far the clocks of an engine's server and of the test may be apart.
const clocks = time.Minute

// sameJob fails the test where the jobs differ in what was stored.
func sameJob(t *testing.T, what string, got, want driver.Job) {
	t.Helper()
	if got.ID != want.ID || got.Kind != want.Kind || got.Priority != want.Priority ||
		got.MaxAttempts != want.MaxAttempts {
		t.Errorf("%s has id %s, kind %s, priority %d, attempts %d; want %s, %s, %d, %d", what,
			got.ID, got.Kind, got.Priority, got.MaxAttempts, want.ID, want.Kind, want.Priority,
			want.MaxAttempts)
	}
	if !sameJSON(got.Args, want.Args) {
		t.Errorf("%s has the arguments %.200q, want %.200q", what, got.Args, want.Args)
	}
	if !maps.Equal(got.Meta, want.Meta) {
		t.Errorf("%s has the meta %v, want %v", what, got.Meta, want.Meta)
	}
}

// near fails the test where a time is far from the other one.
func near(t *testing.T, what string, got, want time.Time) {
	t.Helper()
	if d := got.Sub(want).Abs(); d > clocks {
		t.Errorf("%s is %s, which is %s from %s", what, got, d, want)
	}
}

// travels stores the job, and looks at what a worker and Get give.
func travels(t *testing.T, e *env, j driver.Job) {
	t.Helper()
	e.insert(t, j)
	sameJob(t, "the record", e.get(t, j.ID).Job, j)
	a := e.work(t).nextOf(t, j.ID, 1)
	sameJob(t, "the attempt", a.Job, j)
	a.ok()
	e.awaitDone(t, j.ID)
}

var storeChecks = []check{
	{"Store/AJobIsRunOnceAsItWasStored", func(t *testing.T, e *env) {
		j := newJob(priority(2), func(j *driver.Job) {
			j.Args, j.MaxAttempts = []byte(
				`{"name":"Ann","list":[1,2.5,-3],"big":9007199254740993,"none":null,"yes":true}`), 7
			j.Meta = map[string]string{"request_id": "r-1", "accept_language": "de, en;q=0.8"}
		})
		e.insert(t, j)
		w := e.work(t)
		a := w.nextOf(t, j.ID, 1)
		sameJob(t, "the attempt", a.Job, j)
		near(t, "CreatedAt", a.CreatedAt, time.Now())
		a.ok()
		e.awaitDone(t, j.ID)
		w.quiet(t, "which has succeeded")
	}},
	{"Store/ArgumentsOfEveryJSONType", func(t *testing.T, e *env) {
		w := e.work(t)
		for _, args := range []string{
			`null`, `1`, `-12.5`, `"text"`, `[]`, `{}`, `[{"a":[null]}]`,
			`false`, `""`,
		} {
			j := newJob(func(j *driver.Job) { j.Args = []byte(args) })
			e.insert(t, j)
			a := w.nextOf(t, j.ID, 1)
			sameJob(t, "the attempt", a.Job, j)
			a.ok()
		}
	}},
	{"Store/ArgumentsOfAnyText", func(t *testing.T, e *env) {
		travels(t, e, newJob(func(j *driver.Job) {
			j.Args = []byte(`{"t":"Grüße 世界 🎉 \u0000 \\u0000 \ud83d\ude00 ' \" ; -- %s ? $1 :name \n\t\u2028"}`)
		}))
	}},
	{"Store/ArgumentsOfOneMebibyte", func(t *testing.T, e *env) {
		travels(t, e, newJob(func(j *driver.Job) {
			j.Args = []byte(`"é` + strings.Repeat("x", 1<<20-4) + `"`)
		}))
	}},
	{"Store/MetaOfAnyText", func(t *testing.T, e *env) {
		travels(t, e, newJob(func(j *driver.Job) {
			j.Meta = map[string]string{
				"a": "", "b": "世界 '\"\\",
				"c.d-e_f": strings.Repeat("x", 200),
			}
		}))
	}},
	{"Store/LongestKind", func(t *testing.T, e *env) {
		name := strings.Repeat("a.b_c-9012", 10)
		j := newJob(ofKind(name))
		e.insert(t, j)
		a := e.work(t, kinds(name)).nextOf(t, j.ID, 1)
		sameJob(t, "the attempt", a.Job, j)
		a.ok()
		e.awaitDone(t, j.ID)
	}},
	{"Store/ABatchIsStoredWhole", func(t *testing.T, e *env) {
		batch := jobs(1000)
		e.insert(t, batch...)
		seen := 0
		for after := ""; ; {
			page := e.list(t, driver.Query{State: driver.Waiting, After: after, Limit: 400})
			if len(page) == 0 {
				break
			}
			seen, after = seen+len(page), page[len(page)-1].ID
		}
		if seen != len(batch) {
			t.Errorf("%d jobs wait, want %d", seen, len(batch))
		}
	}},
	{"Store/ABatchWithAnIDThatIsThereIsNotStored", func(t *testing.T, e *env) {
		there := newJob(delay(time.Hour))
		e.insert(t, there)
		batch := jobs(3)
		batch[2].ID = there.ID
		if err := e.Insert(e.ctx, batch); err == nil {
			t.Error("Insert = nil for an id that is there already")
		}
		e.wantNone(t, ids(batch[:2])...)
		sameJob(t, "the job that was there", e.get(t, there.ID).Job, there)
		e.work(t).quiet(t, "of a batch that was refused")
	}},
	{"Store/ABatchWithAnIDTwiceIsNotStored", func(t *testing.T, e *env) {
		batch := jobs(3)
		batch[2].ID = batch[0].ID
		if err := e.Insert(e.ctx, batch); err == nil {
			t.Error("Insert = nil for an id that is there twice")
		}
		e.wantNone(t, ids(batch)...)
		e.work(t).quiet(t, "of a batch that was refused")
	}},
	{"Store/AReplicaRunsWhatAnotherStored", func(t *testing.T, e *env) {
		peer := e.connect(t)
		w := peer.work(t)
		j := newJob()
		e.insert(t, j)
		a := w.nextOf(t, j.ID, 1)
		e.wantState(t, j.ID, driver.Running)
		a.ok()
		e.awaitDone(t, j.ID)
	}},
	{"Store/GetTellsOfAJobsLife", func(t *testing.T, e *env) {
		j := newJob(delay(time.Second))
		e.insert(t, j)
		r := e.wantState(t, j.ID, driver.Waiting)
		sameJob(t, "the record", r.Job, j)
		near(t, "CreatedAt", r.CreatedAt, time.Now())
		near(t, "RunAt", r.RunAt, time.Now().Add(time.Second))
		if r.Attempt != 0 || r.Error != "" {
			t.Errorf("a new job has attempt %d and error %q, want none", r.Attempt, r.Error)
		}
		if wait := r.RunAt.Sub(r.CreatedAt); (wait - time.Second).Abs() > max(e.h.EarlyTolerance,
			100*time.Millisecond) {
			t.Errorf("RunAt is %s after CreatedAt, want the delay of 1s", wait)
		}
		a := e.work(t).nextOf(t, j.ID, 1)
		if r := e.wantState(t, j.ID, driver.Running); r.Attempt != 1 {
			t.Errorf("a job that runs has attempt %d, want 1", r.Attempt)
		}
		a.ok()
		e.awaitDone(t, j.ID)
	}},
	{"Store/AnUnknownJobIsNotFound", func(t *testing.T, e *env) {
		for _, id := range []string{xutil.UUID().V7(), uuidOf("0"), uuidOf("f")} {
			e.wantNone(t, id)
			is(t, "Replay of an unknown job", e.Replay(e.ctx, id), driver.ErrNotFound)
			is(t, "Delete of an unknown job", e.Delete(e.ctx, id), driver.ErrNotFound)
		}
	}},
	{"Store/WhatIsNoIDIsNotFound", func(t *testing.T, e *env) {
		j := newJob(delay(time.Hour))
		e.insert(t, j)
		within := func(fn func(ctx context.Context) error) error { return fn(e.ctx) }
		if e.Capabilities().Transactional { // one that an error ends
			within = func(fn func(ctx context.Context) error) error {
				return e.h.Transaction(e.ctx, fn)
			}
		}
		err := within(func(ctx context.Context) error {
			q := job.NewQueue(e.Engine) // it is who knows
			for _, id := range []string{
				"nonsense", "", "'; --", "\x00", "\xff", j.ID + "\x00",
				j.ID + "\n", strings.ToUpper(j.ID), "{" + j.ID + "}",
			} {
				_, err := q.Get(ctx, id)
				is(t, "Get of what is no id", err, driver.ErrNotFound)
				is(t, "Replay of what is no id", q.Replay(ctx, id), driver.ErrNotFound)
				is(t, "Delete of what is no id", q.Delete(ctx, id), driver.ErrNotFound)
			}
			for _, wrong := range []driver.Query{
				{Kind: "\x00"},
				{Kind: "\xff"},
				{Kind: "A"},
				{After: "\x00"},
				{After: "\xff"},
				{After: "-"},
			} {
				wrong.State = driver.Waiting
				_, err := q.List(ctx, wrong)
				is(t, "List of what makes no sense", err, job.ErrOption)
			}
			_, err := q.Get(ctx, j.ID)
			return err
		})
		if err != nil {
			t.Errorf("Get of the job, after that = %v", err)
		}
	}},
}

// uuidOf is a UUID of one digit.
func uuidOf(digit string) string {
	r := func(n int) string { return strings.Repeat(digit, n) }
	return strings.Join([]string{r(8), r(4), r(4), r(4), r(12)}, "-")
}

// wantNone fails the test where one of the jobs is there.
func (r *replica) wantNone(t *testing.T, ids ...string) {
	t.Helper()
	for _, id := range ids {
		record, err := r.Get(r.ctx, id)
		is(t, "Get of a job that is not there ("+string(record.State)+")", err, driver.ErrNotFound)
	}
}

// list returns a page.
func (r *replica) list(t *testing.T, q driver.Query) []driver.Record {
	t.Helper()
	page, err := r.List(r.ctx, q)
	if err != nil {
		t.Fatalf("List: %v", err)
	}
	if len(page) > q.Limit {
		t.Fatalf("a page has %d records, want at most %d", len(page), q.Limit)
	}
	return page
}
