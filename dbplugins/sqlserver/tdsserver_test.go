package sqlserver_test

import (
	"context"
	"crypto/tls"
	"net"
	"slices"
	"sync"
)

// tdsOptions say how a double behaves.
type tdsOptions struct {
	// Answer is asked for every statement; nil answers each with nothing. It is called
	// from any goroutine.
	Answer func(tdsRequest) tdsReply
	// Login is asked for every login; nil lets everybody in. What it returns is sent
	// instead of an acknowledgement.
	Login func(tdsLogin) []tdsError
	// Transaction is called before a begin, commit or rollback is answered; it may be
	// nil.
	Transaction func(tdsKind)
	// TLS is the certificate and the rest; nil is a server without encryption.
	TLS *tls.Config
	// Force demands that the whole session is encrypted.
	Force bool
	// Silent accepts connections and never says a word.
	Silent bool
}

// tdsServer is a test double of SQL Server: a listener that implements as much of TDS 7.4
// ([MS-TDS]) as the driver needs to log in, to run and cancel statements and to use
// transactions. It does not parse SQL: a function of the test returns each reply. It
// shows what a client sends and how it handles a reply, and proves nothing about SQL
// Server.
type tdsServer struct {
	options tdsOptions

	mu       sync.Mutex
	listener net.Listener
	conns    map[net.Conn]bool // nil: it is stopped
	logins   []tdsLogin
	requests []tdsRequest
	running  sync.WaitGroup
}

// tdsStart starts a double on a free port of the loopback address.
func tdsStart(o tdsOptions) (*tdsServer, error) {
	s := &tdsServer{options: o}
	return s, s.listen("127.0.0.1:0")
}

func (s *tdsServer) listen(address string) error {
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
					(&tdsSession{server: s, conn: conn}).serve()
				})
			}
		}
	})
	return nil
}

// keep notes a connection that Stop has to break.
func (s *tdsServer) keep(conn net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conns == nil {
		_ = conn.Close()
		return false
	}
	s.conns[conn] = true
	return true
}

func (s *tdsServer) drop(conn net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = conn.Close()
	delete(s.conns, conn)
}

// Stop breaks every connection, refuses new ones, and waits until nothing runs any more.
func (s *tdsServer) Stop() error {
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
func (s *tdsServer) Restart() error { return s.listen(s.listener.Addr().String()) }

// Port is where it listens.
func (s *tdsServer) Port() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	address, _ := s.listener.Addr().(*net.TCPAddr)
	return address.Port
}

// Connections returns how many clients are connected.
func (s *tdsServer) Connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.conns)
}

// Logins returns every login so far.
func (s *tdsServer) Logins() []tdsLogin {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.logins)
}

// Requests returns what was asked since the last Reset, in order.
func (s *tdsServer) Requests() []tdsRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Reset forgets requests and logins.
func (s *tdsServer) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests, s.logins = nil, nil
}

func (s *tdsServer) note(r tdsRequest) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r)
}

func (s *tdsServer) noteLogin(l tdsLogin) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.logins = append(s.logins, l)
}
