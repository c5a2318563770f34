package jobtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/plinthgo/plinth/asyncx/job/driver"
	"github.com/plinthgo/plinth/core/common/xutil"
)

const (
	// poll is the poll interval of workers.
	poll = 50 * time.Millisecond
	// kind is the default kind of jobs.
	kind = "jobtest.kind"
)

// env is the environment of one check: a store and a first replica.
type env struct {
	replica
	h     Harness
	store Store
	notes *notes
}

func newEnv(t *testing.T, h Harness, n *notes) *env {
	t.Helper()
	e := &env{h: h, store: h.Open(t), notes: n}
	e.replica = e.connect(t)
	return e
}

// replica is a Replica in a test.
type replica struct {
	driver.Engine
	Replica
	ctx context.Context // Replica.Context, or the test's context
	e   *env
}

// Capabilities returns the capabilities of the engine.
func (r *replica) Capabilities() driver.Capabilities { return r.Replica.Engine.Capabilities() }

// connect opens a replica. At the end of the test, its workers stop and the engine is
// closed.
func (e *env) connect(t *testing.T) replica {
	t.Helper()
	r := replica{Replica: e.store.Connect(t), e: e}
	r.Engine, r.ctx = r.Replica.Engine, r.Context
	if r.ctx == nil {
		r.ctx = t.Context()
	}
	r.ctx = context.WithoutCancel(r.ctx) // cleanups use it too
	engine := r.Engine
	t.Cleanup(func() {
		if err := engine.Close(); err != nil && !errors.Is(err, driver.ErrClosed) {
			t.Logf("Close: %v", err)
		}
	})
	return r
}

// newJob returns a job of the default kind.
func newJob(change ...func(j *driver.Job)) driver.Job {
	j := driver.Job{
		ID: xutil.UUID().V7(), Kind: kind, Args: []byte(`{}`), Priority: 3, MaxAttempts: 10,
	}
	for _, c := range change {
		c(&j)
	}
	return j
}

// jobs returns n jobs whose arguments are the numbers from 0.
func jobs(n int, change ...func(j *driver.Job)) []driver.Job {
	all := make([]driver.Job, n)
	for i := range all {
		setArgs := func(j *driver.Job) { j.Args = []byte(strconv.Itoa(i)) }
		all[i] = newJob(append([]func(j *driver.Job){setArgs}, change...)...)
	}
	return all
}

func delay(d time.Duration) func(j *driver.Job) { return func(j *driver.Job) { j.Delay = d } }

func ofKind(name string) func(j *driver.Job) { return func(j *driver.Job) { j.Kind = name } }

func priority(p int) func(j *driver.Job) { return func(j *driver.Job) { j.Priority = p } }

// insert stores jobs.
func (r *replica) insert(t *testing.T, jobs ...driver.Job) {
	t.Helper()
	if err := r.Insert(r.ctx, jobs); err != nil {
		t.Fatalf("Insert: %v", err)
	}
}

// get returns an existing job.
func (r *replica) get(t *testing.T, id string) driver.Record {
	t.Helper()
	record, err := r.Get(r.ctx, id)
	if err != nil {
		t.Fatalf("Get: %v", err)
	}
	return record
}

// wantState returns the job, and fails the test if it is not in the state.
func (r *replica) wantState(t *testing.T, id string, want driver.State) driver.Record {
	t.Helper()
	record := r.get(t, id)
	if record.State != want {
		t.Errorf("the state is %q, want %q", record.State, want)
	}
	return record
}

// awaitState waits until the job is in the state, and returns it.
func (r *replica) awaitState(t *testing.T, id string, want driver.State) driver.Record {
	t.Helper()
	var record driver.Record
	r.eventually(t, "the job is "+string(want), func() bool {
		record = r.get(t, id)
		return record.State == want
	})
	return record
}

// awaitDone waits until the job is done, or deleted because it is done.
func (r *replica) awaitDone(t *testing.T, id string) {
	t.Helper()
	r.eventually(t, "the job is done", func() bool {
		record, err := r.Get(r.ctx, id)
		if err != nil && !errors.Is(err, driver.ErrNotFound) {
			t.Fatalf("Get: %v", err)
		}
		return err != nil || record.State == driver.Done
	})
}

// eventually waits until ok returns true.
func (r *replica) eventually(t *testing.T, condition string, ok func() bool) {
	t.Helper()
	for start := time.Now(); !ok(); sleep(10 * time.Millisecond) {
		if time.Since(start) > r.e.h.Timeout {
			t.Fatalf("condition not met after %s: %s", r.e.h.Timeout, condition)
		}
	}
}

// wantErr fails the test if err is not want.
func wantErr(t *testing.T, call string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s = %v, want %v", call, err, want)
	}
}

// sleep waits in real time.
func sleep(d time.Duration) { <-time.After(d) }

// sameJSON reports whether a and b are the same JSON value; an engine may reformat it.
func sameJSON(a, b []byte) bool {
	if string(a) == string(b) {
		return true
	}
	x, errX := decode(a)
	y, errY := decode(b)
	return errX == nil && errY == nil && reflect.DeepEqual(x, y)
}

// decode decodes JSON without rounding numbers.
func decode(data []byte) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	err = d.Decode(&v)
	return v, err
}

// ids returns the IDs of jobs.
func ids(jobs []driver.Job) []string {
	all := make([]string, len(jobs))
	for i, j := range jobs {
		all[i] = j.ID
	}
	return all
}

// tally counts the attempts of each job.
type tally struct {
	mu   sync.Mutex
	seen map[string][]int
	all  int
}

func (c *tally) add(a driver.Attempt) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.seen == nil {
		c.seen = map[string][]int{}
	}
	c.seen[a.ID] = append(c.seen[a.ID], a.Number)
	c.all++
}

func (c *tally) total() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.all
}

// wantOnce fails the test unless every job had exactly one attempt, with number 1.
func (c *tally) wantOnce(t *testing.T, ids []string) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.seen) != len(ids) {
		t.Errorf("%d jobs ran, want %d", len(c.seen), len(ids))
	}
	for _, id := range ids {
		if !slices.Equal(c.seen[id], []int{1}) {
			t.Errorf("the job %s had the attempts %v, want only the first", id, c.seen[id])
		}
	}
}
