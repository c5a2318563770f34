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

// process is a running server with the processes that it has started.
type process struct {
	cmd  *exec.Cmd
	gone chan struct{} // closed when none of them is left
}

// start starts cmd. The process and all that descends from it inherit a pipe, whose end
// says that the last one has ended; their ids would not tell, as nobody may be there to
// reap those that have lost their parent. A server that closes the pipe leaves all of its
// processes in its group.
func start(cmd *exec.Cmd) (*process, error) {
	reader, writer, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd.ExtraFiles = []*os.File{writer}
	p := &process{cmd: cmd, gone: make(chan struct{})}
	started := make(chan error)
	go func() {
		// The kernel ends the server with the thread that has started it; hence this one
		// lives as long as the server.
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
		disband(cmd.Process.Pid)
		_, _ = io.Copy(io.Discard, reader)
		close(p.gone)
	}()
	return p, <-started
}

// disband ends what is left of the group of a server that has ended, and waits for it.
func disband(group int) {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for grouped(group) {
		terminate(group)
		<-tick.C
	}
}

// runs reports whether any of its processes is left.
func (p *process) runs() bool {
	select {
	case <-p.gone:
		return false
	default:
		return true
	}
}

// end sends a signal and waits until all is gone.
func (p *process) end(signal syscall.Signal, most time.Duration) error {
	if err := p.cmd.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return p.wait(most)
}

func (p *process) wait(most time.Duration) error {
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-p.gone:
		return nil
	case <-timer.C:
		return errors.New("the server did not end in " + most.String())
	}
}

// pause halts the process and its children.
func (p *process) pause() error { return haltAll(p.cmd.Process.Pid) }

// resume undoes pause. A process that was not paused does not notice.
func (p *process) resume() {
	if p.runs() {
		resumeAll(p.cmd.Process.Pid)
	}
}

// kill ends the process and its children at once. A server's children may be in process
// groups of their own.
func (p *process) kill() error {
	killAll(p.cmd.Process.Pid)
	return p.wait(10 * time.Second)
}
