package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gorm.io/gorm"

	jobdriver "github.com/plinthgo/plinth/asyncx/job/driver"
	"github.com/plinthgo/plinth/core/common/xutil"
)

// counter counts statements, claims, and claims whose candidates other workers claimed
// first.
type counter struct{ all, claims, empty atomic.Int64 }

// Name implements gorm.Plugin.
func (*counter) Name() string { return "test:counter" }

// Initialize implements gorm.Plugin.
func (c *counter) Initialize(db *gorm.DB) error {
	count := func(tx *gorm.DB) {
		c.all.Add(1)
		if strings.Contains(tx.Statement.SQL.String(), "= 'running'") {
			c.claims.Add(1)
			if tx.RowsAffected == 0 {
				c.empty.Add(1)
			}
		}
	}
	cb := db.Callback()
	return errors.Join(cb.Create().After("*").Register(c.Name(), count),
		cb.Query().After("*").Register(c.Name(), count),
		cb.Row().After("*").Register(c.Name(), count),
		cb.Raw().After("*").Register(c.Name(), count))
}

// newJobs returns n jobs, each modified by change.
func newJobs(n int, change ...func(j *jobdriver.Job)) []jobdriver.Job {
	all := make([]jobdriver.Job, n)
	for i := range all {
		all[i] = jobdriver.Job{
			ID: xutil.UUID().V7(), Kind: "test",
			Args: []byte(`{"user":123}`), Priority: 3, MaxAttempts: 3,
		}
		for _, c := range change {
			c(&all[i])
		}
	}
	return all
}

// BenchmarkWorkers measures the overhead of the engine: replicas with ten slots each
// process a backlog of empty jobs.
func BenchmarkWorkers(b *testing.B) {
	for _, on := range []struct {
		name string
		open func(tb testing.TB) testDatabase
	}{{"sqlite", onFile}, {"postgres", onPostgres}, {"mysql", onMySQL}} {
		for _, replicas := range []int{1, 4, 8} {
			b.Run(fmt.Sprintf("%s/%d", on.name, replicas),
				func(b *testing.B) { benchmark(b, on.open(b), replicas) })
		}
	}
}

func benchmark(b *testing.B, p testDatabase, replicas int) {
	b.Helper()
	engines, contexts, c := make([]jobdriver.Engine, replicas), make([]context.Context, replicas),
		&counter{}
	for i := range engines {
		db := open(b, p.options())
		if err := db.Use(c); err != nil {
			b.Fatal(err)
		}
		contexts[i], engines[i] = engine(b, db) //nolint:fatcontext // one context per engine
	}
	n := max(b.N, 2000)
	if err := engines[0].Insert(contexts[0], newJobs(n)); err != nil {
		b.Fatal(err)
	}
	c.all.Store(0)
	var done atomic.Int64
	finished := make(chan struct{})
	var working sync.WaitGroup
	b.ResetTimer()
	start := time.Now()
	stops := make([]context.CancelFunc, replicas)
	for i, e := range engines {
		var ctx context.Context
		ctx, stops[i] = context.WithCancel(contexts[i])
		working.Go(func() {
			err := e.Work(ctx, jobdriver.Work{
				Kinds: []string{"test"}, Concurrency: 10, PollInterval: time.Second,
				OnError: func(_ context.Context, operation string, err error) {
					b.Errorf("%s: %v", operation, err)
				},
				Run: func(context.Context, jobdriver.Attempt) jobdriver.Outcome {
					if done.Add(1) == int64(n) {
						close(finished)
					}
					return jobdriver.Outcome{}
				},
			})
			if err != nil {
				b.Error(err)
			}
		})
	}
	<-finished
	elapsed := time.Since(start)
	for _, stop := range stops {
		stop()
	}
	working.Wait()
	b.ReportMetric(float64(n)/elapsed.Seconds(), "jobs/s")
	b.ReportMetric(float64(c.all.Load())/float64(n), "statements/job")
	b.ReportMetric(100*float64(c.empty.Load())/float64(max(c.claims.Load(), 1)), "%empty-claims")
	b.ReportMetric(float64(c.claims.Load())/float64(n), "claims/job")
	b.ReportMetric(0, "ns/op")
}
