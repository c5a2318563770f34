package verify

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// lanes is how many tasks run together: much of one is waiting for a disk, a server or a linker.
const lanes = 2

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

// inLanes runs the tasks, tells how each went, and returns their errors in the order of the tasks.
func inLanes(ctx context.Context, out io.Writer, tasks []task) error {
	problems := make([]error, len(tasks))
	next := make(chan int)
	var all sync.WaitGroup
	for range lanes {
		all.Go(func() {
			for i := range next {
				if err := tell(ctx, out, tasks[i]); err != nil {
					problems[i] = fmt.Errorf("%s: %w", tasks[i].name, err)
				}
			}
		})
	}
	for i := range tasks {
		next <- i
	}
	close(next)
	all.Wait()
	return errors.Join(problems...)
}

// tell runs one task and writes its line.
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
	return err
}
