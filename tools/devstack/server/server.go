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

// Server is one that was started by a Group. It is safe for concurrent use.
type Server struct {
	group   *Group
	kind    *Kind
	version string

	mu      sync.Mutex
	site    site
	process *process // nil: it does not run
	deleted bool
}

// Kind returns the server's.
func (s *Server) Kind() *Kind { return s.kind }

// Version is the product and its release, as "PostgreSQL 15.4".
func (s *Server) Version() string { return s.version }

// Address is the host and the port, which a start does not change.
func (s *Server) Address() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.site.address()
}

// DSN is the connection string of an administrator, with the password.
func (s *Server) DSN() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.kind.dsn(&s.site)
}

// TLSDSN is like DSN for a server that listens for TLS on a port of its own, else empty.
func (s *Server) TLSDSN() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e, ok := s.kind.engine.(encrypter); ok {
		return e.tlsDSN(&s.site)
	}
	return ""
}

// open starts the server for the first time: a port that another process has taken
// meanwhile is changed.
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

// Start starts the server again, with its data and at its address, and returns when it
// answers.
func (s *Server) Start(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.deleted:
		return fmt.Errorf("%s: the server was deleted", s.kind.Name)
	case s.process != nil && s.process.runs():
		return nil
	}
	return s.launch(ctx)
}

// Stop ends the server in order and returns when it is gone. It does not heed ctx.
func (s *Server) Stop(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process == nil {
		return nil
	}
	defer func() { s.process = nil }()
	s.process.resume()
	if err := s.process.end(s.kind.stop, patience/2); err != nil {
		return errors.Join(fmt.Errorf("%s: %w", s.kind.Name, err), s.process.kill())
	}
	return nil
}

// Kill ends the server and all of its processes at once. It does not heed ctx.
func (s *Server) Kill(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process == nil {
		return nil
	}
	defer func() { s.process = nil }()
	return s.process.kill()
}

// Pause halts the server and all of its processes: connections stay open, and nothing
// answers. It does not heed ctx.
func (s *Server) Pause(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process == nil || !s.process.runs() {
		return fmt.Errorf("%s: the server does not run", s.kind.Name)
	}
	return s.process.pause()
}

// Continue lets a server go on that was paused; others do so anyway. It does not heed
// ctx.
func (s *Server) Continue(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process != nil {
		s.process.resume()
	}
	return nil
}

// Delete ends the server, without care for its data, and removes its folder, also when
// ctx has ended.
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
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	s.kind.discard(ctx, &s.site)
	s.group.mu.Lock()
	delete(s.group.alive, s)
	s.group.mu.Unlock()
	return errors.Join(problem, os.RemoveAll(s.site.dir))
}

// errInUse is part of the error of a server whose port is taken.
var errInUse = errors.New("its port is in use")

// launch starts the process and waits until it answers.
func (s *Server) launch(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	logName := filepath.Join(s.site.dir, "log")
	log, err := os.Create(logName)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	args, input := s.kind.command(&s.site)
	cmd := exec.Command(s.site.server, args...) //nolint:noctx // it outlives the start; process ends it
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

// ready waits until the server says in its log that it is ready, and proves it. The log
// alone would do for most; a probe alone could be answered by another process that has
// taken the port.
func (s *Server) ready(ctx context.Context, logName string) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	err := errors.New("it is not ready yet")
	for {
		select {
		case <-s.process.gone:
			return errors.New("it has ended")
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
		if err = s.ask(ctx); err == nil {
			return nil
		}
	}
}

// ask probes the server over a connection.
func (s *Server) ask(ctx context.Context) error {
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
