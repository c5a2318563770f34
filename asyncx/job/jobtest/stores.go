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

// clockSkew is the tolerated difference between the clocks of the server and the test.
const clockSkew = time.Minute

// sameJob fails the test if the stored fields of the jobs differ.
func sameJob(t *testing.T, subject string, got, want driver.Job) {
	t.Helper()
	if got.ID != want.ID || got.Kind != want.Kind || got.Priority != want.Priority ||
		got.MaxAttempts != want.MaxAttempts {
		t.Errorf("%s has id %s, kind %s, priority %d, attempts %d; want %s, %s, %d, %d",
			subject, got.ID, got.Kind, got.Priority, got.MaxAttempts,
			want.ID, want.Kind, want.Priority, want.MaxAttempts)
	}
	if !sameJSON(got.Args, want.Args) {
		t.Errorf("%s has the arguments %.200q, want %.200q", subject, got.Args, want.Args)
	}
	if !maps.Equal(got.Meta, want.Meta) {
		t.Errorf("%s has the meta %v, want %v", subject, got.Meta, want.Meta)
	}
}

// wantNear fails the test if the times differ by more than clockSkew.
func wantNear(t *testing.T, subject string, got, want time.Time) {
	t.Helper()
	if d := got.Sub(want).Abs(); d > clockSkew {
		t.Errorf("%s = %s, off by %s from %s", subject, got, d, want)
	}
}

// roundTrip stores the job and checks the results of Get and of a worker.
func roundTrip(t *testing.T, e *env, j driver.Job) {
	t.Helper()
	e.insert(t, j)
	sameJob(t, "the record", e.get(t, j.ID).Job, j)
	a := e.work(t).nextOf(t, j.ID, 1)
	sameJob(t, "the attempt", a.Job, j)
	a.ok()
	e.awaitDone(t, j.ID)
}

var storeChecks = []check{
	{"Store/AJobRunsOnceUnchanged", func(t *testing.T, e *env) {
		j := newJob(priority(2), func(j *driver.Job) {
			j.Args = []byte(
				`{"name":"Ann","list":[1,2.5,-3],"big":9007199254740993,"none":null,"yes":true}`)
			j.MaxAttempts = 7
			j.Meta = map[string]string{"request_id": "r-1", "accept_language": "de, en;q=0.8"}
		})
		e.insert(t, j)
		w := e.work(t)
		a := w.nextOf(t, j.ID, 1)
		sameJob(t, "the attempt", a.Job, j)
		wantNear(t, "CreatedAt", a.CreatedAt, time.Now())
		a.ok()
		e.awaitDone(t, j.ID)
		w.wantIdle(t, "after it succeeded")
	}},
	{"Store/ArgumentsOfEveryJSONType", func(t *testing.T, e *env) {
		w := e.work(t)
		for _, args := range []string{
			`null`, `1`, `-12.5`, `"text"`, `[]`, `{}`, `[{"a":[null]}]`, `false`, `""`,
		} {
			j := newJob(func(j *driver.Job) { j.Args = []byte(args) })
			e.insert(t, j)
			a := w.nextOf(t, j.ID, 1)
			sameJob(t, "the attempt", a.Job, j)
			a.ok()
		}
	}},
	{"Store/UnicodeArguments", func(t *testing.T, e *env) {
		roundTrip(t, e, newJob(func(j *driver.Job) {
			j.Args = []byte(`{"t":"Grüße 世界 🎉 \u0000 \\u0000 \ud83d\ude00 ' \" ; -- %s ? $1 :name \n\t\u2028"}`)
		}))
	}},
	{"Store/ArgumentsOfOneMiB", func(t *testing.T, e *env) {
		roundTrip(t, e, newJob(func(j *driver.Job) {
			j.Args = []byte(`"é` + strings.Repeat("x", 1<<20-4) + `"`)
		}))
	}},
	{"Store/UnicodeMeta", func(t *testing.T, e *env) {
		roundTrip(t, e, newJob(func(j *driver.Job) {
			j.Meta = map[string]string{
				"a": "", "b": "世界 '\"\\", "c.d-e_f": strings.Repeat("x", 200),
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
	{"Store/BatchIsStored", func(t *testing.T, e *env) {
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
			t.Errorf("%d waiting jobs, want %d", seen, len(batch))
		}
	}},
	{"Store/BatchWithAnExistingIDIsRejected", func(t *testing.T, e *env) {
		existing := newJob(delay(time.Hour))
		e.insert(t, existing)
		batch := jobs(3)
		batch[2].ID = existing.ID
		if err := e.Insert(e.ctx, batch); err == nil {
			t.Error("Insert = nil for an existing ID")
		}
		e.wantNone(t, ids(batch[:2])...)
		sameJob(t, "the existing job", e.get(t, existing.ID).Job, existing)
		e.work(t).wantIdle(t, "of a rejected batch")
	}},
	{"Store/BatchWithADuplicateIDIsRejected", func(t *testing.T, e *env) {
		batch := jobs(3)
		batch[2].ID = batch[0].ID
		if err := e.Insert(e.ctx, batch); err == nil {
			t.Error("Insert = nil for a duplicate ID")
		}
		e.wantNone(t, ids(batch)...)
		e.work(t).wantIdle(t, "of a rejected batch")
	}},
	{"Store/AnotherReplicaRunsTheJob", func(t *testing.T, e *env) {
		peer := e.connect(t)
		w := peer.work(t)
		j := newJob()
		e.insert(t, j)
		a := w.nextOf(t, j.ID, 1)
		e.wantState(t, j.ID, driver.Running)
		a.ok()
		e.awaitDone(t, j.ID)
	}},
	{"Store/GetReturnsTheState", func(t *testing.T, e *env) {
		j := newJob(delay(time.Second))
		e.insert(t, j)
		r := e.wantState(t, j.ID, driver.Waiting)
		sameJob(t, "the record", r.Job, j)
		wantNear(t, "CreatedAt", r.CreatedAt, time.Now())
		wantNear(t, "RunAt", r.RunAt, time.Now().Add(time.Second))
		if r.Attempt != 0 || r.Error != "" {
			t.Errorf("a new job has attempt %d and error %q, want 0 and no error",
				r.Attempt, r.Error)
		}
		tolerance := max(e.h.EarlyTolerance, 100*time.Millisecond)
		if wait := r.RunAt.Sub(r.CreatedAt); (wait - time.Second).Abs() > tolerance {
			t.Errorf("RunAt is %s after CreatedAt, want the delay of 1s", wait)
		}
		a := e.work(t).nextOf(t, j.ID, 1)
		if r := e.wantState(t, j.ID, driver.Running); r.Attempt != 1 {
			t.Errorf("a running job has attempt %d, want 1", r.Attempt)
		}
		a.ok()
		e.awaitDone(t, j.ID)
	}},
	{"Store/UnknownID", func(t *testing.T, e *env) {
		for _, id := range []string{xutil.UUID().V7(), uuidOf("0"), uuidOf("f")} {
			e.wantNone(t, id)
			wantErr(t, "Replay of an unknown job", e.Replay(e.ctx, id), driver.ErrNotFound)
			wantErr(t, "Delete of an unknown job", e.Delete(e.ctx, id), driver.ErrNotFound)
		}
	}},
	{"Store/InvalidID", func(t *testing.T, e *env) {
		j := newJob(delay(time.Hour))
		e.insert(t, j)
		within := func(fn func(ctx context.Context) error) error { return fn(e.ctx) }
		if e.Capabilities().Transactional { // an SQL error would abort the transaction
			within = func(fn func(ctx context.Context) error) error {
				return e.h.Transaction(e.ctx, fn)
			}
		}
		err := within(func(ctx context.Context) error {
			q := job.NewQueue(e.Engine) // Queue validates IDs
			for _, id := range []string{
				"nonsense", "", "'; --", "\x00", "\xff", j.ID + "\x00",
				j.ID + "\n", strings.ToUpper(j.ID), "{" + j.ID + "}",
			} {
				_, err := q.Get(ctx, id)
				wantErr(t, "Get with an invalid ID", err, driver.ErrNotFound)
				wantErr(t, "Replay with an invalid ID", q.Replay(ctx, id), driver.ErrNotFound)
				wantErr(t, "Delete with an invalid ID", q.Delete(ctx, id), driver.ErrNotFound)
			}
			for _, invalid := range []driver.Query{
				{Kind: "\x00"},
				{Kind: "\xff"},
				{Kind: "A"},
				{After: "\x00"},
				{After: "\xff"},
				{After: "-"},
			} {
				invalid.State = driver.Waiting
				_, err := q.List(ctx, invalid)
				wantErr(t, "List with an invalid query", err, job.ErrOption)
			}
			_, err := q.Get(ctx, j.ID)
			return err
		})
		if err != nil {
			t.Errorf("Get after the invalid calls = %v", err)
		}
	}},
}

// uuidOf returns a UUID that consists of one digit.
func uuidOf(digit string) string {
	r := func(n int) string { return strings.Repeat(digit, n) }
	return strings.Join([]string{r(8), r(4), r(4), r(4), r(12)}, "-")
}

// wantNone fails the test if one of the jobs exists.
func (r *replica) wantNone(t *testing.T, ids ...string) {
	t.Helper()
	for _, id := range ids {
		record, err := r.Get(r.ctx, id)
		wantErr(t, "Get of a missing job ("+string(record.State)+")", err, driver.ErrNotFound)
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
