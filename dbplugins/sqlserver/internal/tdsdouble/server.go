// Package tdsdouble is a double of SQL Server for tests: a listener that speaks as much of TDS 7.4 as the driver needs to
// log in, to run statements and transactions and to cancel them. It understands no SQL; what it answers is up to a function
// of the test. It shows what a client sends and how it takes an answer, and nothing about SQL Server.
//
// The protocol is that of [MS-TDS].
package tdsdouble

import (
	"context"
	"crypto/tls"
	"net"
	"slices"
	"sync"
)

// Options say how a double behaves.
type Options struct {
	// Answer is asked for every statement; nil answers each with nothing. It is called from any goroutine.
	Answer func(Request) Reply
	// Login is asked for every login; nil lets everybody in. What it returns is sent instead of an acknowledgement.
	Login func(Login) []Error
	// Transaction is called before a begin, commit or rollback is answered; it may be nil.
	Transaction func(Kind)
	// TLS is the certificate and the rest; nil is a server without encryption.
	TLS *tls.Config
	// Force demands that the whole session is encrypted.
	Force bool
	// Silent accepts connections and never says a word.
	Silent bool
}

// Server is a double that listens.
type Server struct {
	options Options

	mu       sync.Mutex
	listener net.Listener
	conns    map[net.Conn]bool // nil: it is stopped
	logins   []Login
	requests []Request
	running  sync.WaitGroup
}

// Start starts a double on a free port of the loopback address.
func Start(o Options) (*Server, error) {
	s := &Server{options: o}
	return s, s.listen("127.0.0.1:0")
}

func (s *Server) listen(address string) error {
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", address)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listener, s.conns = listener, map[net.Conn]bool{}
	s.running.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			if s.keep(conn) {
				s.running.Go(func() {
					defer s.drop(conn)
					(&session{server: s, conn: conn}).serve()
				})
			}
		}
	})
	return nil
}

// keep notes a connection that Stop has to break.
func (s *Server) keep(conn net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conns == nil {
		_ = conn.Close()
		return false
	}
	s.conns[conn] = true
	return true
}

func (s *Server) drop(conn net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = conn.Close()
	delete(s.conns, conn)
}

// Stop breaks every connection, refuses new ones, and waits until nothing runs any more.
func (s *Server) Stop() error {
	s.mu.Lock()
	conns := s.conns
	s.conns = nil
	err := s.listener.Close()
	for conn := range conns {
		_ = conn.Close()
	}
	s.mu.Unlock()
	s.running.Wait()
	if conns == nil {
		return nil // it was stopped before
	}
	return err
}

// Restart starts a double that was stopped at its address.
func (s *Server) Restart() error { return s.listen(s.listener.Addr().String()) }

// Port is where it listens.
func (s *Server) Port() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	address, _ := s.listener.Addr().(*net.TCPAddr)
	return address.Port
}

// Connections returns how many clients are connected.
func (s *Server) Connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.conns)
}

// Logins returns every login so far.
func (s *Server) Logins() []Login {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.logins)
}

// Requests returns what was asked since the last Reset, in order.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Reset forgets requests and logins.
func (s *Server) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests, s.logins = nil, nil
}

func (s *Server) note(r Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r)
}

func (s *Server) noteLogin(l Login) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.logins = append(s.logins, l)
}
