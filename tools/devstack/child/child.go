// Package child runs commands for a program that has to tidy up after them, whatever
// signal ends it.
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

// Interrupted is the error of work that a signal has ended.
type Interrupted struct{ Signal syscall.Signal }

// Error implements error.
func (i Interrupted) Error() string { return fmt.Sprintf("ended by a signal: %v", i.Signal) }

// Signals receives the signals of this process: interrupt, terminated, hang-up, quit. The
// first ends its context and is passed on to the commands that run; a second one kills
// those.
type Signals struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	caught chan os.Signal
	second chan struct{}

	mu      sync.Mutex
	first   syscall.Signal // 0: none yet
	shared  int            // how many commands run that get interrupts from the terminal
	pending bool           // it got one
}

// Watch begins to receive signals. Stop has to be called.
func Watch() *Signals {
	s := &Signals{caught: make(chan os.Signal, 8), second: make(chan struct{})}
	s.ctx, s.cancel = context.WithCancelCause(context.Background())
	for _, sig := range []os.Signal{
		syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP,
		syscall.SIGQUIT,
	} {
		if !signal.Ignored(sig) { // as nohup does
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

// Stop gives the signals their usual meaning again.
func (s *Signals) Stop() {
	signal.Stop(s.caught)
	close(s.caught)
	s.cancel(nil)
}

// Context ends with the first signal; its cause is then Interrupted.
func (s *Signals) Context() context.Context { return s.ctx }

// Err returns Interrupted once there was a signal.
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

// share notes that the terminal gives its interrupts to the command itself. Such an
// interrupt is the command's matter; when the command has ended it counts here.
func (s *Signals) share() (end func()) {
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

// grace is how long a command of Group has to end after the interrupt.
const grace = 10 * time.Second

// Group is exec.CommandContext for a command that starts others, such as go test: the end
// of the context interrupts it with all of them, and after 10 s it is killed. To run at a
// terminal it is not meant for: it has a process group of its own.
func Group(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	separate(cmd)
	cmd.Cancel = func() error { return send(cmd.Process, syscall.SIGINT, false) }
	cmd.WaitDelay = grace
	return cmd
}

// Command is exec.Command for Run.
func (s *Signals) Command(name string, args ...string) *exec.Cmd {
	return exec.CommandContext(s.ctx, name, args...)
}

// Run runs a command of Command, several at the same time if need be, and returns its
// exit code, which is 128 and the signal's number where a signal has ended it. The error
// is that of a command that could not be started.
//
// The command gets a process group of its own, to which signals are passed on, except at
// a terminal: there it must stay in this one's group to read from the terminal, which
// also gives it the interrupts.
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
	_ = cmd.Wait() // the state says more
	close(done)
	return exitCode(cmd.ProcessState), nil
}
