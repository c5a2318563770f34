package webhook_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/plinthgo/plinth/asyncx/backoff"
	"github.com/plinthgo/plinth/asyncx/job"
	"github.com/plinthgo/plinth/asyncx/outbox"
	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
	_ "github.com/plinthgo/plinth/dbplugins/sqlite"
	"github.com/plinthgo/plinth/notifyx/webhook"
)

// service returns the context of an application that stores jobs in the SQLite database
// at path.
func service(path string) (ctx context.Context, stop func(), err error) {
	log, err := xlog.New(xlog.Config{Level: slog.LevelError, Writer: io.Discard})
	if err != nil {
		return nil, nil, err
	}
	ctx = xlog.NewContext(context.Background(), log)
	db, err := xdb.Open(ctx, xdb.Options{
		Driver: "sqlite",
		Parts:  driver.Config{Source: xenv.Map{"DATABASE_PATH": path}},
	})
	if err != nil {
		return nil, nil, err
	}
	ctx = context.WithValue(ctx, xctx.DatabaseKey, db)
	engine, err := outbox.Open(outbox.WithTakeoverTimeout(500 * time.Millisecond))(ctx)
	if err != nil {
		return nil, nil, errors.Join(err, xdb.Close(db))
	}
	ctx = context.WithValue(ctx, xctx.JobQueueKey, job.NewQueue(engine))
	return ctx, func() { _, _, _ = engine.Close(), xdb.Close(db), log.Close() }, nil
}

// newService is like service, and stops at the end of the test.
func newService(t *testing.T) context.Context {
	t.Helper()
	ctx, stop, err := service(filepath.Join(t.TempDir(), "jobs.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return ctx
}

// deliver runs a worker until the end of the test.
func deliver(t *testing.T, ctx context.Context, d *webhook.Dispatcher) {
	t.Helper()
	ctx, cancel := context.WithCancel(ctx)
	stopped := make(chan error, 1)
	go func() {
		stopped <- job.Work(ctx, job.WithHandlers(d.Handler()),
			job.WithPollInterval(20*time.Millisecond))
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-stopped; err != nil {
			t.Error(err)
		}
	})
}

// await waits until done returns true.
func await(t *testing.T, condition string, done func() bool) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	limit := time.NewTimer(time.Minute)
	defer limit.Stop()
	for !done() {
		select {
		case <-tick.C:
		case <-limit.C:
			t.Fatalf("timeout waiting for: %s", condition)
		}
	}
}

func TestDispatcher_Enqueue_Transaction(t *testing.T) {
	got := make(chan received, 2)
	s := serve(t, record(got))
	d := dispatcher(t, shopOnly(s.URL), newClient(t))
	ctx := newService(t)
	rolledBack := errors.New("rolled back")
	store := func(note string, end error) error {
		return xdb.Transaction(ctx, func(ctx context.Context) error {
			if _, err := d.Enqueue(ctx, "shop",
				webhook.Event{Type: "order.paid", Data: note}); err != nil {
				return err
			}
			return end
		})
	}
	if err := store("never", rolledBack); !errors.Is(err, rolledBack) {
		t.Fatal(err)
	}
	if err := store("committed", nil); err != nil {
		t.Fatal(err)
	}
	deliver(t, ctx, d)
	if r := <-got; !strings.Contains(string(r.body), "committed") {
		t.Errorf("body = %s", r.body)
	}
	await(t, "no jobs left", func() bool {
		for _, state := range []job.State{job.StateWaiting, job.StateRunning} {
			if all, err := job.MustGetQueue(ctx).List(ctx, job.Query{State: state}); err != nil ||
				len(all) > 0 {
				return false
			}
		}
		return true
	})
	if len(got) != 0 {
		t.Error("the rolled back event was sent")
	}
}

func TestDispatcher_Replay_Outbox(t *testing.T) {
	var status, hits atomic.Int32
	status.Store(http.StatusBadGateway)
	ids := make(chan string, 10)
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		hits.Add(1)
		ids <- r.Header.Get("Webhook-Id")
		w.WriteHeader(int(status.Load()))
	})
	d := dispatcher(t, shopOnly(s.URL), newClient(t),
		webhook.WithSchedule(backoff.Constant(10*time.Millisecond), 3))
	ctx := newService(t)
	id, err := d.Enqueue(ctx, "shop", webhook.Event{Type: "order.paid", Data: 17})
	if err != nil {
		t.Fatal(err)
	}
	deliver(t, ctx, d)
	queue := job.MustGetQueue(ctx)
	var dead []job.Record
	await(t, "a dead-lettered job", func() bool {
		dead, err = queue.List(ctx, job.Query{State: job.StateDead, Kind: webhook.JobKind})
		return err != nil || len(dead) == 1
	})
	if err != nil || hits.Load() != 3 || dead[0].Attempt != 3 ||
		!strings.Contains(string(dead[0].Args), id) {
		t.Fatalf("%v, %d requests, %+v", err, hits.Load(), dead)
	}
	status.Store(http.StatusOK)
	if err := queue.Replay(ctx, dead[0].ID); err != nil {
		t.Fatal(err)
	}
	await(t, "the replay", func() bool { return hits.Load() == 4 })
	for range 4 {
		if got := <-ids; got != id {
			t.Errorf("id %q, want %q", got, id)
		}
	}
	if dead, err := queue.List(ctx, job.Query{State: job.StateDead}); err != nil || len(dead) != 0 {
		t.Errorf("List = %+v, %v", dead, err)
	}
}
