package asynq_test

import (
	"errors"
	"testing"
	"time"

	"github.com/plinthgo/plinth/asyncx/job/driver"
	"github.com/plinthgo/plinth/asyncx/job/jobtest"
	"github.com/plinthgo/plinth/conformance/cachetest"
	cachedriver "github.com/plinthgo/plinth/core/major/xcache/driver"
)

func TestEngine_Durability(t *testing.T) {
	t.Parallel()
	servers := cachetest.StartServers(t, "redis")
	p := newTestQueue(t, parts(t, servers.URL), "private server")
	ctx, e, client := p.open(t)
	w, started := collect(testKind)
	work(t, ctx, e, w)
	persisted, lost := newJobs(1, ofKind("kind.later"))[0], newJobs(1, ofKind("kind.later"))[0]
	if err := e.Insert(ctx, []driver.Job{persisted}); err != nil {
		t.Fatal(err)
	}
	if err := client.Save(ctx).Err(); err != nil {
		t.Fatal(err)
	}
	if err := e.Insert(ctx, []driver.Job{lost}); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(servers.Kill(""), servers.Start("")); err != nil {
		t.Fatal(err)
	}
	eventually(t, "jobs can be stored again",
		func() bool { return e.Insert(ctx, newJobs(1)) == nil })
	next(t, started) // the worker continues after the restart and the loss of all scripts
	if r, err := e.Get(ctx, persisted.ID); err != nil || r.State != driver.Waiting {
		t.Errorf("Get of the persisted job = %s, %v; want waiting", r.State, err)
	}
	if _, err := e.Get(ctx, lost.ID); !errors.Is(err, driver.ErrNotFound) {
		t.Errorf("Get of the job that was not persisted = %v, want %v", err, driver.ErrNotFound)
	}
}

func TestEngine_Cluster(t *testing.T) {
	t.Parallel()
	servers := cachetest.StartServers(t, "redis-cluster")
	jobtest.Run(t, jobtest.Harness{
		Open: func(tb testing.TB) jobtest.Store {
			tb.Helper()
			p := newTestQueue(tb, cachedriver.Config{URL: servers.URL}, "private servers")
			return jobtest.Store{Connect: func(tb testing.TB) jobtest.Replica {
				tb.Helper()
				ctx, e, _ := p.open(tb)
				return jobtest.Replica{Engine: e, Context: ctx}
			}}
		},
		LateTolerance: lateTolerance, Source: "private servers", Server: "Redis Cluster",
		Differences: skippedChecks,
	})
}

// TestEngine_Insert_Cluster tests the atomicity of a batch on several servers.
func TestEngine_Insert_Cluster(t *testing.T) {
	t.Parallel()
	servers := cachetest.StartServers(t, "redis-cluster")
	p := newTestQueue(t, cachedriver.Config{URL: servers.URL}, "private servers")
	ctx, e, _ := p.open(t)
	existing := newJobs(1, ofKind("kind.z"), func(j *driver.Job) { j.Delay = time.Hour })[0]
	if err := e.Insert(ctx, []driver.Job{existing}); err != nil {
		t.Fatal(err)
	}
	batch := append(newJobs(2, ofKind("kind.a")), existing)
	if err := e.Insert(ctx, batch); err == nil {
		t.Error("Insert = nil for an existing ID")
	}
	for _, j := range batch[:2] {
		if !deleted(ctx, e, j.ID) {
			t.Error("a job of the rejected batch exists")
		}
	}
	if _, err := e.Get(ctx, existing.ID); err != nil {
		t.Errorf("Get of the existing job = %v", err)
	}
}
