package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Server is a server started by a Group. It is safe for concurrent use.
type Server struct {
	group   *Group
	kind    *Kind
	version string

	mu      sync.Mutex
	site    site
	process *process // nil if the server is not running
	deleted bool
}

// Kind returns the kind of the server.
func (s *Server) Kind() *Kind { return s.kind }

// Version returns the product and its release, such as "PostgreSQL 15.4".
func (s *Server) Version() string { return s.version }

// Address returns the host and port. They do not change when the server restarts.
func (s *Server) Address() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.site.address()
}

// DSN returns the connection string of an administrator, including the password.
func (s *Server) DSN() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.kind.dsn(&s.site)
}

// TLSDSN returns the DSN of the separate TLS port, or "" if the server has no such port.
func (s *Server) TLSDSN() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e, ok := s.kind.engine.(encrypter); ok {
		return e.tlsDSN(&s.site)
	}
	return ""
}

// open starts the server for the first time. It selects another port if the port is in
// use.
func (s *Server) open(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for attempt := 1; ; attempt++ {
		port, err := s.group.port(ctx, s.kind.second)
		if err != nil {
			return fmt.Errorf("%s: %w", s.kind.Name, err)
		}
		s.site.port = port
		if c, ok := s.kind.engine.(configurer); ok {
			if err := c.configure(&s.site); err != nil {
				return fmt.Errorf("%s: %w", s.kind.Name, err)
			}
		}
		if err = s.launch(ctx); err == nil || attempt == 5 || !errors.Is(err, errInUse) {
			return err
		}
	}
}

// Start restarts the server with its data and address, and returns when it responds.
func (s *Server) Start(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.deleted:
		return fmt.Errorf("%s: the server was deleted", s.kind.Name)
	case s.process != nil && s.process.isRunning():
		return nil
	}
	return s.launch(ctx)
}

// Stop shuts the server down gracefully and waits for it to exit. It ignores ctx.
func (s *Server) Stop(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process == nil {
		return nil
	}
	defer func() { s.process = nil }()
	s.process.resume()
	if err := s.process.end(s.kind.stop, stepTimeout/2); err != nil {
		return errors.Join(fmt.Errorf("%s: %w", s.kind.Name, err), s.process.kill())
	}
	return nil
}

// Kill kills the server and all its processes. It ignores ctx.
func (s *Server) Kill(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process == nil {
		return nil
	}
	defer func() { s.process = nil }()
	return s.process.kill()
}

// Pause stops the server and all its processes with SIGSTOP. Connections stay open, but
// the server does not respond. Pause ignores ctx.
func (s *Server) Pause(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process == nil || !s.process.isRunning() {
		return fmt.Errorf("%s: the server is not running", s.kind.Name)
	}
	return s.process.pause()
}

// Continue resumes a paused server. It has no effect on other servers and ignores ctx.
func (s *Server) Continue(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process != nil {
		s.process.resume()
	}
	return nil
}

// Delete stops the server, discards its data and removes its directory, even if ctx is
// canceled.
func (s *Server) Delete(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.deleted {
		return nil
	}
	s.deleted = true
	var problem error
	if s.process != nil {
		s.process.resume()
		if err := s.process.end(s.kind.drop, 5*time.Second); err != nil {
			problem = s.process.kill()
		}
		s.process = nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stepTimeout)
	defer cancel()
	s.kind.discard(ctx, &s.site)
	s.group.mu.Lock()
	delete(s.group.servers, s)
	s.group.mu.Unlock()
	return errors.Join(problem, os.RemoveAll(s.site.dir))
}

// errInUse is wrapped if the port of a server is in use.
var errInUse = errors.New("port is in use")

// launch starts the process and waits until the server responds.
func (s *Server) launch(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	logName := filepath.Join(s.site.dir, "log")
	log, err := os.Create(logName)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	args, input := s.kind.command(&s.site)
	cmd := exec.Command(s.site.server, args...) //nolint:noctx // it outlives this call; process stops it
	cmd.Dir, cmd.Env = s.site.dir, environment(s.site.dir)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(input), log, log
	if err := confine(cmd, s.kind.users, s.kind.drop); err != nil {
		return fmt.Errorf("%s: %w", s.kind.Name, err)
	}
	if s.process, err = start(cmd); err != nil {
		return fmt.Errorf("%s: %w", s.kind.Name, err)
	}
	if err := s.ready(ctx, logName); err != nil {
		text, _ := os.ReadFile(logName)
		if strings.Contains(strings.ToLower(string(text)), "address already in use") {
			err = errInUse
		}
		err = fmt.Errorf("%s did not start: %w%s", s.kind.Name, err, tail(string(text)))
		err = errors.Join(s.site.masked(err), s.process.kill())
		s.process = nil
		return err
	}
	return nil
}

// ready waits until the log reports that the server is ready, and then probes it. A probe
// alone could reach another process that uses the port.
func (s *Server) ready(ctx context.Context, logName string) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	err := errors.New("not ready")
	for {
		select {
		case <-s.process.exited:
			return errors.New("the process exited")
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), err)
		case <-tick.C:
		}
		text, readErr := os.ReadFile(logName)
		if readErr != nil {
			return readErr
		}
		if !strings.Contains(string(text), s.kind.marker) {
			continue
		}
		if err = s.probe(ctx); err == nil {
			return nil
		}
	}
}

// probe probes the server over a new connection.
func (s *Server) probe(ctx context.Context) error {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", s.site.address())
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(time.Now().Add(5 * time.Second)); err != nil {
		return err
	}
	return s.kind.probe(conn, &s.site)
}
