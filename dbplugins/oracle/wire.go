package oracle

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"slices"
	"sync"
	"sync/atomic"
)

// wire is the network connection of a conn. The library does not expose its connection;
// closing the wire makes a blocked read return.
type wire struct {
	// context of the login, which cancels a dial; set before the library uses the wire
	loginCtx context.Context

	mu     sync.Mutex
	conn   net.Conn
	closed bool

	broken atomic.Bool // a read or a write failed
}

// DialContext implements the library's dialer.
func (w *wire) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	if w.loginCtx != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(w.loginCtx, cancel)() // the library does not pass the login context
	}
	inner, err := (&net.Dialer{}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		_ = inner.Close()
		return nil, net.ErrClosed
	}
	w.conn = inner // after a redirect the library dials again
	w.broken.Store(false)
	return &watchedConn{Conn: inner, wire: w}, nil
}

// close closes the network connection permanently.
func (w *wire) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	w.broken.Store(true)
	if w.conn != nil {
		_ = w.conn.Close()
		w.conn = nil
	}
}

// watchedConn is a network connection that records read and write errors.
type watchedConn struct {
	net.Conn

	wire *wire
	head []byte // the first bytes received
}

// Read implements net.Conn.
func (c *watchedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if err != nil {
		c.wire.broken.Store(true)
	}
	if missing := headLength - len(c.head); missing > 0 {
		c.head = append(c.head, p[:min(n, missing)]...)
		if len(c.head) == headLength && !isConnectResponse(c.head) {
			return 0, errProtocol
		}
	}
	return n, err
}

// headLength is the length of a packet header: two bytes of length, two of checksum, one
// of type and three others.
const headLength = 8

var errProtocol = errors.New("oracle: the server is not an Oracle listener")

// isConnectResponse reports whether head is the header of a response to a connect packet
// (accept, refuse, redirect or resend) or of a TLS record. The library does not check
// lengths and allocates 4 GB for a length of zero.
func isConnectResponse(head []byte) bool {
	if head[0] >= 0x14 && head[0] <= 0x17 && head[1] == 3 {
		return true
	}
	return binary.BigEndian.Uint16(head) > headLength &&
		slices.Contains([]byte{2, 4, 5, 11}, head[4]) ||
		binary.BigEndian.Uint16(head) == headLength && head[4] == 11
}

// Write implements net.Conn.
func (c *watchedConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	if err != nil {
		c.wire.broken.Store(true)
	}
	return n, err
}
