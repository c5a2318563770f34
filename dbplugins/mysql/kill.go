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
	// killTimeout bounds the connection that ends another one.
	killTimeout = 5 * time.Second
	// killWait is how long a statement that was given up waits for that, so that it has
	// no effect once its caller goes on.
	killWait = 500 * time.Millisecond
)

// session is a connection as its server knows it.
type session struct {
	id     string
	server string // which one it is: the number says nothing to another one behind the same address
}

// ask returns the session of a connection.
func ask(ctx context.Context, c sqldriver.QueryerContext) (session, error) {
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
	return session{id: text(row[0]), server: text(row[1])}, nil
}

func text(v sqldriver.Value) string {
	if b, ok := v.([]byte); ok {
		return string(b)
	}
	return fmt.Sprint(v)
}

// kill ends the session that was reached at an address, whatever it does, and rolls back
// what it has started. If it cannot, that is not reported: the statement's caller has
// its answer.
func (c *connector) kill(at net.Addr, s session) {
	ctx, cancel := context.WithTimeout(context.Background(), killTimeout)
	defer cancel()
	cfg := c.cfg.Clone()
	cfg.Net, cfg.Addr, cfg.Params = at.Network(), at.String(), nil
	cfg.MaxAllowedPacket = gosql.NewConfig().MaxAllowedPacket // does not ask for it
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
	if now, err := ask(ctx, lib); err != nil || now.server != s.server {
		return
	}
	_, _ = lib.ExecContext(ctx, "KILL CONNECTION "+s.id, nil) // fails if it has ended by itself
}

// wire is the network below a connection. The library closes it in the middle if a
// context ends; then the server must be notified.
type wire struct {
	net.Conn

	kill func(net.Addr, session)

	mu sync.Mutex
	// nil: nothing to end, since it is not logged in, leaves in order, or is broken
	session *session
	killed  chan struct{} // closed when the session has ended; nil: it was not given up
}

// watch begins to end the session when the wire is closed.
func (w *wire) watch(s session) { w.set(&s) }

// leave lets the session end by itself.
func (w *wire) leave() { w.set(nil) }

func (w *wire) set(s *session) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.session = s
}

// Read implements net.Conn. Who waits for an answer that will not come waits for the end
// of the statement instead.
func (w *wire) Read(p []byte) (int, error) {
	n, err := w.Conn.Read(p)
	if err == nil {
		return n, nil
	}
	w.mu.Lock()
	if !errors.Is(err, os.ErrDeadlineExceeded) { // which is readTimeout, and gives up too
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

// Write implements net.Conn. The library returns the error as it is; one of Read becomes
// its own.
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

// SyscallConn implements syscall.Conn, by which the library looks whether the server has
// hung up.
func (w *wire) SyscallConn() (syscall.RawConn, error) {
	inner, ok := w.Conn.(syscall.Conn)
	if !ok {
		return nil, net.ErrClosed
	}
	return inner.SyscallConn()
}
