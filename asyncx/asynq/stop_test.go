package asynq_test

import (
	"context"
	"testing"
	"time"

	"github.com/plinthgo/plinth/asyncx/job/driver"
)

func TestEngine_Work_Shutdown(t *testing.T) {
	t.Parallel()
	p := onRedis(t)
	ctx, e, _ := p.open(t)
	for range 50 {
		j := newJobs(1)
		if err := e.Insert(ctx, j); err != nil {
			t.Fatal(err)
		}
		started, end := make(chan struct{}), make(chan struct{})
		stop := work(t, ctx, e, driver.Work{
			Kinds: []string{testKind}, Concurrency: 1, PollInterval: time.Second,
			OnError: logErrors(t),
			Run: func(context.Context, driver.Attempt) driver.Outcome {
				close(started)
				<-end
				return driver.Outcome{}
			},
		})
		<-started
		close(end)
		stop()
		if !deleted(ctx, e, j[0].ID) {
			t.Fatal("the job still exists after shutdown")
		}
	}
}
