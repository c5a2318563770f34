//go:build unix

package outbox_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	jobdriver "github.com/plinthgo/plinth/asyncx/job/driver"
	"github.com/plinthgo/plinth/asyncx/outbox"
)

// stopTakeOver is long enough for a busy machine to renew a lease before the process is
// suspended.
const stopTakeOver = 2 * time.Second

// TestEngine_Work_SuspendedProcess suspends a process with SIGSTOP for longer than its
// lease, like a suspended virtual machine.
func TestEngine_Work_SuspendedProcess(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name       string
		ignoresCtx bool // the handler ignores its context and returns after a line of input
		want       string
	}{
		{name: "context is canceled", want: "canceled: outbox: lease lost"},
		{name: "handler ignores its context", ignoresCtx: true, want: "returned after the line"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			testSuspended(t, tc.ignoresCtx, tc.want)
		})
	}
}

// testSuspended suspends a worker, and checks that another worker takes over its job.
func testSuspended(t *testing.T, ignoresCtx bool, want string) {
	t.Helper()
	p := onFile(t)
	ctx, _, queue := p.application(t, stopTakeOver)
	id, err := ship.Enqueue(ctx, shipArgs{1})
	if err != nil {
		t.Fatal(err)
	}
	cmd, _ := p.process(t,
		childConfig{Role: "hold", TakeOver: stopTakeOver, IgnoresCtx: ignoresCtx})
	in, inErr := cmd.StdinPipe()
	out, outErr := cmd.StdoutPipe()
	if err := errors.Join(inErr, outErr, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	wantLine(t, lines, "started")
	if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	started, finish := make(chan jobdriver.Attempt, 9), make(chan struct{})
	other := p.replica(t, outbox.WithTakeoverTimeout(stopTakeOver))
	working, cancel := context.WithCancel(other.Context)
	var work sync.WaitGroup
	work.Go(func() {
		err := other.Engine.Work(working, jobdriver.Work{
			Kinds: []string{ship.Name()}, Concurrency: 1, PollInterval: 20 * time.Millisecond,
			Run: func(_ context.Context, a jobdriver.Attempt) jobdriver.Outcome {
				started <- a
				<-finish
				return jobdriver.Outcome{}
			},
		})
		if err != nil {
			t.Error(err)
		}
	})
	if a := <-started; a.ID != id || a.Number != 2 {
		t.Errorf("attempt %d at %s, want 2 at %s", a.Number, a.ID, id)
	}
	if ignoresCtx {
		_, err = io.WriteString(in, "end\n")
	}
	if err := errors.Join(err, cmd.Process.Signal(syscall.SIGCONT)); err != nil {
		t.Fatal(err)
	}
	wantLine(t, lines, want)
	wantLine(t, lines, "lost attempt 1 outbox: lease lost")
	if r, err := queue.Get(ctx, id); err != nil || r.State != jobdriver.Running || r.Attempt != 2 {
		t.Errorf("state, attempt after the late outcome = %v, %d, %v; want running, 2",
			r.State, r.Attempt, err)
	}
	close(finish)
	eventually(t, "the job is done", func() bool {
		_, err := queue.Get(ctx, id)
		return errors.Is(err, jobdriver.ErrNotFound)
	})
	cancel()
	work.Wait()
	if err := in.Close(); err != nil {
		t.Error(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// wantLine reads a line, and fails the test if it does not start with want.
func wantLine(tb testing.TB, lines *bufio.Scanner, want string) {
	tb.Helper()
	if !lines.Scan() || !strings.HasPrefix(lines.Text(), want) {
		tb.Fatalf("the process printed %q, want %q", lines.Text(), want)
	}
}
