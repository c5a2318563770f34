package e2e_test

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// serverTimeout is the timeout for the start and the shutdown of a server.
const serverTimeout = 20 * time.Second

// server is the running program.
type server struct {
	base string // URL, without a slash at the end
	cmd  *exec.Cmd
	log  *bytes.Buffer // complete when done is closed
	done chan struct{}
	err  error // of the process, when done is closed

	terminate func() // sends the signal to stop, once
}

// start starts the program and stops it after the test.
func start(t *testing.T, program string) *server {
	t.Helper()
	var s *server
	for range 3 { // another process may bind the port first
		s = launch(t, program, freeAddress(t))
		if s.ready() {
			t.Cleanup(func() { s.stop(t) })
			return s
		}
		s.kill()
	}
	t.Fatalf("the program did not start: %v\n%s", s.err, s.log)
	return nil
}

// freeAddress returns a free address.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

func launch(t *testing.T, program, address string) *server {
	t.Helper()
	s := &server{base: "http://" + address, log: &bytes.Buffer{}, done: make(chan struct{})}
	s.cmd = exec.CommandContext(context.WithoutCancel(t.Context()), program, "serve", "--addr",
		address)
	s.cmd.Env = append(os.Environ(), "PLINTH_DRAIN_DELAY=0s")
	s.cmd.Dir = t.TempDir()
	s.cmd.Stdout, s.cmd.Stderr = s.log, s.log
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s.terminate = sync.OnceFunc(func() { _ = s.cmd.Process.Signal(syscall.SIGTERM) })
	go func() {
		s.err = s.cmd.Wait()
		close(s.done)
	}()
	return s
}

// ready waits until the server responds, and reports whether it does.
func (s *server) ready() bool {
	tick, limit := time.NewTicker(10*time.Millisecond), time.After(serverTimeout)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if s.healthy() {
				return true
			}
		case <-s.done:
			return false
		case <-limit:
			return false
		}
	}
}

func (s *server) healthy() bool {
	ctx, cancel := context.WithTimeout(context.Background(), serverTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.base+"/healthz", nil)
	if err != nil {
		return false
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return false
	}
	_ = response.Body.Close()
	return response.StatusCode == http.StatusOK
}

func (s *server) kill() {
	_ = s.cmd.Process.Kill()
	<-s.done
}

// stop signals the server once and fails the test unless it shuts down gracefully.
func (s *server) stop(t *testing.T) {
	t.Helper()
	s.terminate()
	select {
	case <-s.done:
	case <-time.After(serverTimeout):
		s.kill()
		t.Errorf("the server did not stop\n%s", s.log)
		return
	}
	if s.err != nil || strings.Contains(s.log.String(), "panic") {
		t.Errorf("the server exited with %v\n%s", s.err, s.log)
	}
}

// url returns the address of a path.
func (s *server) url(path string) string { return s.base + path }

// endpoint returns the URL of the protocol endpoint.
func (s *server) endpoint() string { return s.url("/api/mcp") }
