package asynq_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/plinthgo/plinth/asyncx/job/driver"
)

// BenchmarkWorkers measures the overhead of the engine: replicas with ten slots each
// process a backlog of empty jobs.
func BenchmarkWorkers(b *testing.B) {
	for _, replicas := range []int{1, 4} {
		b.Run(fmt.Sprintf("%d", replicas), func(b *testing.B) { benchmark(b, replicas) })
	}
}

func benchmark(b *testing.B, replicas int) {
	b.Helper()
	p := onRedis(b)
	n := max(b.N, 2000)
	var done atomic.Int64
	finished := make(chan struct{})
	var working sync.WaitGroup
	var stops []context.CancelFunc
	for i := range replicas {
		ctx, e, _ := p.open(b)
		if i == 0 {
			if err := e.Insert(ctx, newJobs(n)); err != nil {
				b.Fatal(err)
			}
			b.ResetTimer()
		}
		ctx, stop := context.WithCancel(ctx)
		stops = append(stops, stop)
		working.Go(func() {
			err := e.Work(ctx, driver.Work{
				Kinds: []string{testKind}, Concurrency: 10, PollInterval: time.Second,
				OnError: func(_ context.Context, operation string, err error) {
					b.Errorf("%s: %v", operation, err)
				},
				Run: func(context.Context, driver.Attempt) driver.Outcome {
					if done.Add(1) == int64(n) {
						close(finished)
					}
					return driver.Outcome{}
				},
			})
			if err != nil {
				b.Error(err)
			}
		})
	}
	start := time.Now()
	<-finished
	b.ReportMetric(float64(n)/time.Since(start).Seconds(), "jobs/s")
	for _, stop := range stops {
		stop()
	}
	working.Wait()
}

func BenchmarkInsert(b *testing.B) {
	for _, size := range []int{1, 1000} {
		b.Run(fmt.Sprintf("%d", size), func(b *testing.B) {
			p := onRedis(b)
			ctx, e, _ := p.open(b)
			start := time.Now()
			for range b.N {
				if err := e.Insert(ctx, newJobs(size)); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(size*b.N)/time.Since(start).Seconds(), "jobs/s")
		})
	}
}
