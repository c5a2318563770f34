// Package child runs commands and forwards signals to them, so that the parent can clean
// up after a signal.
package child

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// Interrupted is the error of work that a signal canceled.
type Interrupted struct{ Signal syscall.Signal }

// Error implements error.
func (i Interrupted) Error() string { return fmt.Sprintf("interrupted by signal: %v", i.Signal) }

// Signals receives the signals interrupt, terminate, hang-up and quit of this process.
// The first signal cancels the context and is forwarded to running commands. A second
// signal kills them.
type Signals struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	caught chan os.Signal
	second chan struct{}

	mu      sync.Mutex
	first   syscall.Signal // 0 before the first signal
	shared  int            // number of commands that receive interrupts from the terminal
	pending bool           // an interrupt arrived while commands share the terminal
}

// Watch starts to receive signals. The caller must call Stop.
func Watch() *Signals {
	s := &Signals{caught: make(chan os.Signal, 8), second: make(chan struct{})}
	s.ctx, s.cancel = context.WithCancelCause(context.Background())
	all := []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT}
	for _, sig := range all {
		if !signal.Ignored(sig) { // nohup ignores SIGHUP
			signal.Notify(s.caught, sig)
		}
	}
	go func() {
		for sig := range s.caught {
			if number, ok := sig.(syscall.Signal); ok {
				s.receive(number)
			}
		}
	}()
	return s
}

// Stop restores the default behavior of the signals.
func (s *Signals) Stop() {
	signal.Stop(s.caught)
	close(s.caught)
	s.cancel(nil)
}

// Context returns a context that the first signal cancels with the cause Interrupted.
func (s *Signals) Context() context.Context { return s.ctx }

// Err returns Interrupted after a signal, or nil.
func (s *Signals) Err() error {
	if s.ctx.Err() == nil {
		return nil
	}
	return context.Cause(s.ctx)
}

func (s *Signals) receive(sig syscall.Signal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.shared > 0 && sig == syscall.SIGINT:
		s.pending = true
	case s.first == 0:
		s.first = sig
		s.cancel(Interrupted{sig})
	default:
		select {
		case <-s.second:
		default:
			close(s.second)
		}
	}
}

// share records that the terminal sends interrupts to a command directly. Such an
// interrupt is handled here after the command exits.
func (s *Signals) share() (release func()) {
	s.mu.Lock()
	s.shared++
	s.mu.Unlock()
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.shared--
		if s.pending && s.first == 0 {
			s.first = syscall.SIGINT
			s.cancel(Interrupted{s.first})
		}
	}
}

// killDelay is the time between the interrupt and the kill of a command of Group.
const killDelay = 10 * time.Second

// Group is like exec.CommandContext for a command that starts other processes, such as go
// test. Cancellation interrupts the command and its processes, and kills it after 10
// seconds. The command has its own process group, so do not use Group for commands that
// read from a terminal.
func Group(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	separate(cmd)
	cmd.Cancel = func() error { return send(cmd.Process, syscall.SIGINT, false) }
	cmd.WaitDelay = killDelay
	return cmd
}

// Command is like exec.Command, for use with Run.
func (s *Signals) Command(name string, args ...string) *exec.Cmd {
	return exec.CommandContext(s.ctx, name, args...)
}

// Run runs a command of Command and returns its exit code, or 128 plus the signal number
// if a signal terminated it. It returns an error if the command cannot be started. Run is
// safe for concurrent use.
//
// The command gets its own process group, and Run forwards signals to the group. On a
// terminal, the command remains in the foreground group, so that it can read from the
// terminal and receives its interrupts.
func (s *Signals) Run(cmd *exec.Cmd) (code int, err error) {
	shared := atTerminal()
	if !shared {
		separate(cmd)
	}
	cmd.Cancel = func() error {
		s.mu.Lock()
		defer s.mu.Unlock()
		return send(cmd.Process, s.first, shared)
	}
	if shared {
		defer s.share()()
	}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	done := make(chan struct{})
	go func() {
		select {
		case <-s.second:
			_ = send(cmd.Process, syscall.SIGKILL, shared)
		case <-done:
		}
	}()
	_ = cmd.Wait() // ProcessState has the exit code
	close(done)
	return exitCode(cmd.ProcessState), nil
}
