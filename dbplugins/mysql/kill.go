package mysql

import (
	"context"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	gosql "github.com/go-sql-driver/mysql"

	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

const (
	// killTimeout limits the connection that kills a session.
	killTimeout = 5 * time.Second
	// killWait limits how long a canceled statement waits for the kill, so that it has no
	// effect after the call has returned.
	killWait = 500 * time.Millisecond
)

// session identifies a connection on its server.
type session struct {
	id     string
	server string // identity of the server, because several may share an address
}

// querySession queries the session of a connection.
func querySession(ctx context.Context, c sqldriver.QueryerContext) (session, error) {
	const query = "SELECT CONCAT(CONNECTION_ID()), CONCAT_WS(':', @@hostname, @@port, @@server_id)"
	rows, err := c.QueryContext(ctx, query, nil)
	if err != nil {
		return session{}, err
	}
	defer func() { _ = rows.Close() }()
	row := make([]sqldriver.Value, len(rows.Columns()))
	if err := rows.Next(row); err != nil {
		return session{}, err
	}
	return session{id: stringOf(row[0]), server: stringOf(row[1])}, nil
}

func stringOf(v sqldriver.Value) string {
	if b, ok := v.([]byte); ok {
		return string(b)
	}
	return fmt.Sprint(v)
}

// kill kills session s at address addr; the server rolls back its transaction. Errors are
// not reported, because the caller of the statement already received one.
func (c *connector) kill(addr net.Addr, s session) {
	ctx, cancel := context.WithTimeout(context.Background(), killTimeout)
	defer cancel()
	cfg := c.cfg.Clone()
	cfg.Net, cfg.Addr, cfg.Params = addr.Network(), addr.String(), nil
	cfg.MaxAllowedPacket = gosql.NewConfig().MaxAllowedPacket // the default, which needs no query
	connector, err := gosql.NewConnector(cfg)
	if err != nil {
		return
	}
	inner, err := connector.Connect(ctx)
	if err != nil {
		return
	}
	defer func() { _ = inner.Close() }()
	lib, ok := inner.(library)
	if !ok {
		return
	}
	if current, err := querySession(ctx, lib); err != nil || current.server != s.server {
		return
	}
	_, _ = lib.ExecContext(ctx, "KILL CONNECTION "+s.id, nil) // fails if the session already ended
}

// wire is the network connection below a connection. The library closes it when a context
// is canceled; wire then kills the session.
type wire struct {
	net.Conn

	kill func(net.Addr, session)

	mu sync.Mutex
	// nil if there is nothing to kill: before login, after detach, or after a network
	// error
	session *session
	killed  chan struct{} // closed when the kill is done; nil if the session was not killed
}

// attach makes Close kill session s.
func (w *wire) attach(s session) { w.set(&s) }

// detach makes Close not kill the session.
func (w *wire) detach() { w.set(nil) }

func (w *wire) set(s *session) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.session = s
}

// Read implements net.Conn. After a cancellation it waits up to killWait for the kill.
func (w *wire) Read(p []byte) (int, error) {
	n, err := w.Conn.Read(p)
	if err == nil {
		return n, nil
	}
	w.mu.Lock()
	if !errors.Is(err, os.ErrDeadlineExceeded) { // a read timeout also cancels the statement
		w.session = nil
	}
	killed := w.killed
	w.mu.Unlock()
	if killed != nil {
		timer := time.NewTimer(killWait)
		defer timer.Stop()
		select {
		case <-killed:
		case <-timer.C:
		}
	}
	return n, err
}

// Write implements net.Conn. It translates errors because the library returns them
// unchanged; it replaces the errors of Read.
func (w *wire) Write(p []byte) (int, error) {
	n, err := w.Conn.Write(p)
	return n, driver.TranslateNetwork(err)
}

// Close implements net.Conn.
func (w *wire) Close() error {
	w.mu.Lock()
	s := w.session
	if w.session = nil; s != nil {
		killed := make(chan struct{})
		w.killed = killed
		go func() {
			defer close(killed)
			w.kill(w.RemoteAddr(), *s)
		}()
	}
	w.mu.Unlock()
	return w.Conn.Close()
}

// SyscallConn implements syscall.Conn. The library uses it to check whether the server
// closed the connection.
func (w *wire) SyscallConn() (syscall.RawConn, error) {
	inner, ok := w.Conn.(syscall.Conn)
	if !ok {
		return nil, net.ErrClosed
	}
	return inner.SyscallConn()
}
