package river_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/plinthgo/plinth/asyncx/job"
	"github.com/plinthgo/plinth/asyncx/job/driver"
	"github.com/plinthgo/plinth/asyncx/outbox"
	"github.com/plinthgo/plinth/asyncx/river"
)

// BenchmarkJobs compares the engines on one PostgreSQL server: empty jobs with one worker
// of 20, and Insert of one job.
func BenchmarkJobs(b *testing.B) {
	_, c := testServer(b)
	for name, open := range map[string]job.Opener{"river": river.Open(), "outbox": outbox.Open()} {
		for _, workers := range []int{10, 100} {
			b.Run(fmt.Sprintf("%s/work%d", name, workers), func(b *testing.B) {
				ctx, _ := application(b, newDatabase(b, c))
				engine, err := open(ctx)
				must(b, err)
				jobs, _ := newJobs(quickKind, b.N)
				for len(jobs) > 0 {
					n := min(len(jobs), 1000)
					must(b, engine.Insert(ctx, jobs[:n]))
					jobs = jobs[n:]
				}
				ctx, cancel := context.WithCancel(ctx)
				var done atomic.Int64
				w := work(func(context.Context, driver.Attempt) driver.Outcome {
					if done.Add(1) == int64(b.N) {
						cancel()
					}
					return driver.Outcome{}
				}, quickKind)
				w.Concurrency, w.PollInterval = workers, time.Second
				b.ResetTimer()
				must(b, engine.Work(ctx, w))
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
			})
		}
		b.Run(name+"/store", func(b *testing.B) {
			ctx, _ := application(b, newDatabase(b, c))
			engine, err := open(ctx)
			must(b, err)
			jobs, _ := newJobs(quickKind, b.N)
			b.ResetTimer()
			for i := range jobs {
				must(b, engine.Insert(ctx, jobs[i:i+1]))
			}
		})
	}
}
