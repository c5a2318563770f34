package dbtest

import (
	"context"
	"io"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

// relay passes bytes between its clients and a server.
type relay struct {
	to string

	mu       sync.Mutex
	listener net.Listener
	conns    map[net.Conn]bool // nil: it is stopped
	done     sync.WaitGroup

	gate   sync.RWMutex // what passes bytes on holds it
	silent atomic.Bool
}

// beginRelay begins one to the server of parts, which ends with the test.
func beginRelay(tb testing.TB, parts driver.Config, address string) *relay {
	if parts.Host == "" || parts.Port == 0 {
		tb.Fatalf("relay: the parts %v need a host and a port", parts)
	}
	r := &relay{to: net.JoinHostPort(parts.Host, strconv.Itoa(parts.Port))}
	check(tb, r.start(address), "relay")
	tb.Cleanup(func() {
		r.speak()
		check(tb, r.stop(), "stop the relay")
	})
	return r
}

func (r *relay) start(address string) error {
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", address)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.listener, r.conns = listener, map[net.Conn]bool{}
	r.done.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			r.done.Go(func() { r.serve(client) })
		}
	})
	return nil
}

// address is where the relay listens, or has listened.
func (r *relay) address() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.listener.Addr().String()
}

// inFrontOf returns the parts with the address of the relay.
func (r *relay) inFrontOf(tb testing.TB, parts driver.Config) driver.Config {
	host, port, err := net.SplitHostPort(r.address())
	check(tb, err, "relay")
	parts.Host = host
	parts.Port, err = strconv.Atoi(port)
	check(tb, err, "relay")
	return parts
}

// stop breaks every connection and waits until the relay is gone.
func (r *relay) stop() error {
	r.mu.Lock()
	conns := r.conns
	r.conns = nil
	err := r.listener.Close()
	for conn := range conns {
		_ = conn.Close()
	}
	r.mu.Unlock()
	r.done.Wait()
	if conns == nil {
		return nil // it was stopped before
	}
	return err
}

// keep notes a connection that stop has to break; false: it comes too late.
func (r *relay) keep(conn net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.conns == nil {
		_ = conn.Close()
		return false
	}
	r.conns[conn] = true
	return true
}

// drop ends a connection.
func (r *relay) drop(conn net.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	_ = conn.Close()
	delete(r.conns, conn)
}

// silence lets no byte through any more, in either direction, and leaves the connections as they are.
func (r *relay) silence() {
	r.gate.Lock()
	r.silent.Store(true)
}

// speak ends a silence.
func (r *relay) speak() {
	if r.silent.CompareAndSwap(true, false) {
		r.gate.Unlock()
	}
}

// gated is a writer of the relay.
type gated struct {
	io.Writer

	gate *sync.RWMutex
}

// Write implements io.Writer.
func (g gated) Write(p []byte) (int, error) {
	g.gate.RLock()
	defer g.gate.RUnlock()
	return g.Writer.Write(p)
}

func (r *relay) serve(client net.Conn) {
	if !r.keep(client) {
		return
	}
	defer r.drop(client)
	server, err := (&net.Dialer{Timeout: time.Second}).DialContext(context.Background(), "tcp", r.to)
	if err != nil || !r.keep(server) {
		return
	}
	defer r.drop(server)
	var both sync.WaitGroup
	for _, pair := range [][2]net.Conn{{client, server}, {server, client}} {
		both.Go(func() {
			_, _ = io.Copy(gated{pair[0], &r.gate}, pair[1])
			_ = client.Close() // which ends the other copy too
			_ = server.Close()
		})
	}
	both.Wait()
}
