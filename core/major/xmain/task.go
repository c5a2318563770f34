package xmain

import (
	"fmt"
	"reflect"
	"runtime"
	"time"

	"github.com/plinthgo/plinth/core/major/xhook"
)

// taskGrace is the time from the start of the tasks until the service can be ready. In
// this time every task can call xhook.HoldReady, even on a busy machine.
const taskGrace = 250 * time.Millisecond

// runTasks starts the tasks and delays readiness by taskGrace.
func (r *runner) runTasks() {
	if len(r.tasks) == 0 {
		return
	}
	release, _ := r.lifecycle.HoldReady("starting tasks")
	time.AfterFunc(taskGrace, release)
	for _, task := range r.tasks {
		r.running.Go(func() { r.runTask(task) })
	}
}

// runTask runs a task. A panic stops the service.
func (r *runner) runTask(task Task) {
	err := xhook.Guard(func() error {
		task(r.appCtx)
		return nil
	})
	if err != nil {
		name := runtime.FuncForPC(reflect.ValueOf(task).Pointer()).Name()
		r.lifecycle.Fail(r.logPanics("task", fmt.Errorf("xmain: task %s: %w", name, err)))
	}
}
