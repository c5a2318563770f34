package verify

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"
)

// parallelTasks is the maximum number of concurrent tasks.
const parallelTasks = 2

// A task is one verification, with its name in the output.
type task struct {
	name string
	run  func(context.Context) error
}

// lines serializes the output of concurrent tasks.
type lines struct {
	mu sync.Mutex
	to io.Writer
}

// Write implements io.Writer.
func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.to.Write(p)
}

// runTask runs a task and prints its result. The error contains the name of the task.
func runTask(ctx context.Context, out io.Writer, t task) error {
	start, word := time.Now(), "ok"
	err := ctx.Err()
	if err == nil {
		err = t.run(ctx)
	}
	if err != nil {
		word = "FAIL"
	}
	fmt.Fprintf(out, "%-30s %-4s %s\n", t.name, word, time.Since(start).Round(time.Second))
	if err != nil {
		return fmt.Errorf("%s: %w", t.name, err)
	}
	return nil
}
