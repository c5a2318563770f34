package job_test

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/plinthgo/plinth/asyncx/job"
	"github.com/plinthgo/plinth/asyncx/job/internal/memory"
	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/defined/xctx"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// note is the argument type of most tests.
type note struct {
	Text string `json:"text"`
	N    int    `json:"n"`
}

// secret is an argument that must not appear in logs and errors.
const secret = "secret-argument"

// recorder collects log output.
type recorder struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (r *recorder) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(p)
}

// String returns the whole log.
func (r *recorder) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}

// withMessage returns the log records with the message.
func (r *recorder) withMessage(t *testing.T, message string) []map[string]any {
	t.Helper()
	var lines []map[string]any
	for row := range strings.Lines(r.String()) {
		line := map[string]any{}
		if err := json.Unmarshal([]byte(row), &line); err != nil {
			t.Fatalf("%q is not a JSON log line: %v", row, err)
		}
		if line["msg"] == message {
			lines = append(lines, line)
		}
	}
	return lines
}

// fixture is a queue that uses a test double, with the log of its workers.
type fixture struct {
	store  *memory.Store
	engine *memory.Engine
	queue  *job.Queue
	ctx    context.Context
	log    *recorder
	logger *xlog.LogNamedLogger
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	return newFixtureOn(t, memory.New())
}

func newFixtureOn(t *testing.T, m *memory.Store) *fixture {
	t.Helper()
	b := &fixture{store: m, engine: m.Connect(), log: &recorder{}}
	b.queue = job.NewQueue(b.engine)
	b.ctx = context.WithValue(t.Context(), xctx.JobQueueKey, b.queue)
	engine, err := xlog.New(xlog.Config{Writer: b.log, Format: xlog.FormatJSON, Level: -4})
	if err != nil {
		t.Fatal(err)
	}
	b.logger = engine.WithName("TASK")
	return b
}

// runningWorker is a started worker.
type runningWorker struct {
	stop context.CancelFunc
	done chan error
}

// work starts a worker and stops it at the end of the test.
func (b *fixture) work(t *testing.T, options ...job.Option) *runningWorker {
	t.Helper()
	w := &runningWorker{done: make(chan error, 1)}
	var ctx context.Context
	ctx, w.stop = context.WithCancel(b.ctx)
	options = append([]job.Option{job.WithLogger(b.logger)}, options...)
	go func() { w.done <- job.Work(ctx, options...) }()
	t.Cleanup(w.stop)
	return w
}

// stopAndWait stops the worker and waits for it.
func (w *runningWorker) stopAndWait(t *testing.T) {
	t.Helper()
	w.stop()
	if err := <-w.done; err != nil {
		t.Errorf("Work = %v, want nil", err)
	}
}

// withFakeClock runs a test in a synctest bubble, with a new fixture.
func withFakeClock(t *testing.T, run func(t *testing.T, b *fixture)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { run(t, newFixture(t)) })
}

// sleep advances the fake clock.
func sleep(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// enqueue stores a job.
func enqueue[T any](
	t *testing.T, b *fixture, k *job.Kind[T], args T, options ...job.EnqueueOption,
) (id string) {
	t.Helper()
	id, err := k.Enqueue(b.ctx, args, options...)
	if err != nil {
		t.Fatalf("Enqueue: %v", err)
	}
	return id
}

// get returns an existing job.
func (b *fixture) get(t *testing.T, id string) job.Record {
	t.Helper()
	r, err := b.queue.Get(b.ctx, id)
	if err != nil {
		t.Fatalf("Get: %v", err)
	}
	return r
}

// newReplica returns another replica of the same store.
func newReplica(t *testing.T, b *fixture) *fixture {
	t.Helper()
	return newFixtureOn(t, b.store)
}
