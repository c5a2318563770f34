package sqlserver

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

// wires are the network connections of one login, of which the last stays. It implements
// mssql.HostDialer, whose dialer looks up the name of the host, which the library would
// do without a context.
type wires struct {
	keepAlive time.Duration

	mu      sync.Mutex
	over    bool // they are closed
	reached bool // a server has answered
	all     []*wire
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
	if w.over {
		_ = inner.Close()
		return nil, net.ErrClosed
	}
	opened := &wire{Conn: inner}
	w.all = append(w.all, opened)
	w.reached = w.reached || network == "tcp" // SQL Server Browser speaks UDP
	return opened, nil
}

// cut closes them all.
func (w *wires) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = true
	for _, opened := range w.all {
		_ = opened.Close()
	}
}

// closed reports whether they are cut.
func (w *wires) closed() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.over
}

// explain gives an error of the login its kind if only the library's text shows it:
// that it has not found an instance, or that the network broke in a handshake. A
// certificate that is not trusted is neither.
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

// wire is a network connection that remembers whether it broke.
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
