package server

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// process is a running server with its child processes.
type process struct {
	cmd    *exec.Cmd
	exited chan struct{} // closed when all processes have exited
}

// start starts cmd. The process and its descendants inherit a pipe that is closed when
// the last of them exits. Process IDs would not show this, because orphaned processes may
// never be reaped. A server that closes the pipe must keep its processes in its process
// group.
func start(cmd *exec.Cmd) (*process, error) {
	reader, writer, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd.ExtraFiles = []*os.File{writer}
	p := &process{cmd: cmd, exited: make(chan struct{})}
	started := make(chan error)
	go func() {
		// The parent-death signal is sent when the starting thread exits, so this thread
		// must not exit before the server.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer func() { _ = reader.Close() }()
		err := cmd.Start()
		_ = writer.Close()
		started <- err
		if err != nil {
			return
		}
		_ = cmd.Wait()
		terminateGroup(cmd.Process.Pid)
		_, _ = io.Copy(io.Discard, reader)
		close(p.exited)
	}()
	return p, <-started
}

// terminateGroup terminates the remaining processes of a group and waits for them.
func terminateGroup(group int) {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for grouped(group) {
		terminate(group)
		<-tick.C
	}
}

// isRunning reports whether any process is running.
func (p *process) isRunning() bool {
	select {
	case <-p.exited:
		return false
	default:
		return true
	}
}

// end sends a signal and waits for all processes to exit.
func (p *process) end(signal syscall.Signal, timeout time.Duration) error {
	if err := p.cmd.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return p.wait(timeout)
}

func (p *process) wait(timeout time.Duration) error {
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case <-p.exited:
		return nil
	case <-timer.C:
		return errors.New("the server did not exit within " + timeout.String())
	}
}

// pause stops the process and its children with SIGSTOP.
func (p *process) pause() error { return haltAll(p.cmd.Process.Pid) }

// resume reverts pause. It has no effect on a running process.
func (p *process) resume() {
	if p.isRunning() {
		resumeAll(p.cmd.Process.Pid)
	}
}

// kill kills the process and its children, which may have their own process groups.
func (p *process) kill() error {
	killAll(p.cmd.Process.Pid)
	return p.wait(10 * time.Second)
}
