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

// wire is the network below one connection. The library keeps its own to itself, and
// waits for an answer that does not come; closing the wire ends that.
type wire struct {
	// of the login, whose end ends a dial; set before the library has the wire
	caller context.Context

	mu   sync.Mutex
	conn net.Conn
	gone bool

	broken atomic.Bool // a read or a write has failed
}

// DialContext implements the library's dialer.
func (w *wire) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	if w.caller != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(w.caller, cancel)() // the caller's, which the library does not get
	}
	inner, err := (&net.Dialer{}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.gone {
		_ = inner.Close()
		return nil, net.ErrClosed
	}
	w.conn = inner // a redirect dials again
	w.broken.Store(false)
	return &watched{Conn: inner, wire: w}, nil
}

// cut closes the network, now and for good.
func (w *wire) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.gone = true
	w.broken.Store(true)
	if w.conn != nil {
		_ = w.conn.Close()
		w.conn = nil
	}
}

// watched notices what goes wrong.
type watched struct {
	net.Conn

	wire *wire
	head []byte // the first bytes that came
}

// Read implements net.Conn.
func (c *watched) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if err != nil {
		c.wire.broken.Store(true)
	}
	if missing := headLength - len(c.head); missing > 0 {
		c.head = append(c.head, p[:min(n, missing)]...)
		if len(c.head) == headLength && !isAnswer(c.head) {
			return 0, errProtocol
		}
	}
	return n, err
}

// headLength is the length of a packet's head: its own length in two bytes, two of a
// checksum, its type, and three more.
const headLength = 8

var errProtocol = errors.New("oracle: what answers at this address is no Oracle listener")

// isAnswer reports whether a head is one of the answers to a connect packet: accept,
// refuse, redirect, resend. The library takes every length as it comes, and makes room
// for 4 GB if it is zero. A record of TLS passes too.
func isAnswer(head []byte) bool {
	if head[0] >= 0x14 && head[0] <= 0x17 && head[1] == 3 {
		return true
	}
	return binary.BigEndian.Uint16(head) > headLength &&
		slices.Contains([]byte{2, 4, 5, 11}, head[4]) ||
		binary.BigEndian.Uint16(head) == headLength && head[4] == 11
}

// Write implements net.Conn.
func (c *watched) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	if err != nil {
		c.wire.broken.Store(true)
	}
	return n, err
}
