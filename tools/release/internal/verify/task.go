package verify

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"
)

// together is how many tasks run at the same time.
const together = 2

// A task is one thing to verify, with the name that it has in the output.
type task struct {
	name string
	run  func(context.Context) error
}

// lines writes one line at a time: tasks of both lanes tell how they went.
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

// tell runs one task and writes its line. The error names the task.
func tell(ctx context.Context, out io.Writer, t task) error {
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
