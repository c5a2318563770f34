package xmain

import (
	"fmt"
	"reflect"
	"runtime"
	"time"

	"github.com/plinthgo/plinth/core/major/xhook"
)

// taskGrace is the time between the start of the tasks and readiness. A task whose first
// statement is xhook.HoldReady is in time, also on a busy machine.
const taskGrace = 250 * time.Millisecond

// runTasks starts the tasks, and holds the readiness for taskGrace.
func (r *runner) runTasks() {
	if len(r.tasks) == 0 {
		return
	}
	release, _ := r.life.HoldReady("tasks that have just been started")
	time.AfterFunc(taskGrace, release)
	for _, task := range r.tasks {
		r.running.Go(func() { r.runTask(task) })
	}
}

// runTask runs a task. Its panic ends the service.
func (r *runner) runTask(task Task) {
	err := xhook.Guard(func() error {
		task(r.app)
		return nil
	})
	if err != nil {
		name := runtime.FuncForPC(reflect.ValueOf(task).Pointer()).Name()
		r.life.Fail(r.panics("task", fmt.Errorf("xmain: task %s: %w", name, err)))
	}
}
