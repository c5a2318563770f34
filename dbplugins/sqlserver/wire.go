package sqlserver

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

// wires contains the network connections of one login; only the last one remains open. It
// implements mssql.HostDialer, so that host names are resolved with the context, which
// the library does not do.
type wires struct {
	keepAlive time.Duration

	mu       sync.Mutex
	isClosed bool
	reached  bool // a server accepted a TCP connection
	all      []*wire
}

// HostName implements mssql.HostDialer.
func (w *wires) HostName() string { return "" }

// DialContext implements mssql.Dialer.
func (w *wires) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	inner, err := (&net.Dialer{KeepAlive: w.keepAlive}).DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.isClosed {
		_ = inner.Close()
		return nil, net.ErrClosed
	}
	opened := &wire{Conn: inner}
	w.all = append(w.all, opened)
	w.reached = w.reached || network == "tcp" // SQL Server Browser uses UDP
	return opened, nil
}

// close closes all connections.
func (w *wires) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.isClosed = true
	for _, opened := range w.all {
		_ = opened.Close()
	}
}

// closed reports whether close was called.
func (w *wires) closed() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.isClosed
}

// explain sets the kind of a login error that only the library's text describes: an
// unknown instance, or a broken network during a handshake. It does not change the error
// of an untrusted certificate.
func (w *wires) explain(err error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	broken := !w.reached
	for _, opened := range w.all {
		broken = broken || opened.broken.Load()
	}
	if !broken || (Driver{}).ErrorKind(err) != driver.Unknown {
		return err
	}
	return driver.Translate(driver.Connection, err, err.Error())
}

// wire is a network connection that records whether it broke.
type wire struct {
	net.Conn

	broken atomic.Bool
}

// Read implements net.Conn.
func (w *wire) Read(p []byte) (int, error) {
	n, err := w.Conn.Read(p)
	if err != nil {
		w.broken.Store(true)
	}
	return n, err
}

// Write implements net.Conn.
func (w *wire) Write(p []byte) (int, error) {
	n, err := w.Conn.Write(p)
	if err != nil {
		w.broken.Store(true)
	}
	return n, err
}
