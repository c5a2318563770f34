package sqlserver_test

import (
	"context"
	"crypto/tls"
	"net"
	"slices"
	"sync"
)

// tdsOptions configures a double.
type tdsOptions struct {
	// Respond is called for every statement, from any goroutine. If it is nil, every
	// statement has an empty response.
	Respond func(tdsRequest) tdsReply
	// Login is called for every login. A returned error rejects the login; if Login is
	// nil, every login is accepted.
	Login func(tdsLogin) []tdsError
	// Transaction is called before the response to a begin, commit or rollback. It may be
	// nil.
	Transaction func(tdsKind)
	// TLS is the TLS configuration; nil disables encryption.
	TLS *tls.Config
	// Force requires encryption of the whole session.
	Force bool
	// Silent accepts connections but never responds.
	Silent bool
}

// tdsServer is a test double of SQL Server. It implements the part of TDS 7.4 ([MS-TDS])
// that the driver needs for logins, statements, cancellation and transactions. It does
// not parse SQL; a function of the test returns each response. Tests with the double
// therefore verify the client, but not SQL Server.
type tdsServer struct {
	options tdsOptions

	mu       sync.Mutex
	listener net.Listener
	conns    map[net.Conn]bool // nil after Stop
	logins   []tdsLogin
	requests []tdsRequest
	running  sync.WaitGroup
}

// tdsStart starts a double on a free loopback port.
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
			if s.register(conn) {
				s.running.Go(func() {
					defer s.unregister(conn)
					(&tdsSession{server: s, conn: conn}).serve()
				})
			}
		}
	})
	return nil
}

// register adds a connection that Stop closes. It returns false after Stop.
func (s *tdsServer) register(conn net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conns == nil {
		_ = conn.Close()
		return false
	}
	s.conns[conn] = true
	return true
}

func (s *tdsServer) unregister(conn net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = conn.Close()
	delete(s.conns, conn)
}

// Stop closes every connection, rejects new ones and waits for all goroutines.
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
		return nil // already stopped
	}
	return err
}

// Restart restarts a stopped double at the same address.
func (s *tdsServer) Restart() error { return s.listen(s.listener.Addr().String()) }

// Port returns the port of the double.
func (s *tdsServer) Port() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	address, _ := s.listener.Addr().(*net.TCPAddr)
	return address.Port
}

// Connections returns the number of connected clients.
func (s *tdsServer) Connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.conns)
}

// Logins returns all logins since the last Reset.
func (s *tdsServer) Logins() []tdsLogin {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.logins)
}

// Requests returns the requests since the last Reset, in order.
func (s *tdsServer) Requests() []tdsRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Reset removes the recorded requests and logins.
func (s *tdsServer) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests, s.logins = nil, nil
}

func (s *tdsServer) record(r tdsRequest) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r)
}

func (s *tdsServer) recordLogin(l tdsLogin) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.logins = append(s.logins, l)
}
