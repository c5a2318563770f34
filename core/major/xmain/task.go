package xmain

import (
	"context"
	"fmt"
	"reflect"
	"runtime"
	"sync"
	"time"

	"github.com/plinthgo/plinth/core/major/xhook"
)

// taskGrace is how long the service waits, before it reports ready, for a task to get as far as waiting for something.
const taskGrace = 250 * time.Millisecond

// runTasks starts the tasks. Each holds the readiness until it has asked for its context's end, as one that waits does, has
// returned, or has run for taskGrace: so one whose first statement is xhook.HoldReady is in time.
func (r *runner) runTasks() {
	for _, task := range r.tasks {
		release, _ := r.life.HoldReady("a task that has just been started")
		grace := time.AfterFunc(taskGrace, release)
		r.run(task, func() {
			grace.Stop()
			release()
		})
	}
}

// run starts a task. Its panic ends the service.
func (r *runner) run(task Task, settled func()) {
	r.running.Go(func() {
		defer settled() // after a failure has been told
		err := xhook.Guard(func() error {
			task(&taskContext{Context: r.app, settled: sync.OnceFunc(settled)})
			return nil
		})
		if err != nil {
			name := runtime.FuncForPC(reflect.ValueOf(task).Pointer()).Name()
			r.life.Fail(r.stacked(fmt.Errorf("xmain: task %s: %w", name, err)))
		}
	})
}

// taskContext is the application's context in the hands of a task.
type taskContext struct {
	context.Context
	settled func()
}

// Done implements context.Context.
func (c *taskContext) Done() <-chan struct{} {
	c.settled()
	return c.Context.Done()
}
