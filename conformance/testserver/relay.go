package testserver

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// Relay passes bytes between its clients and a server, and can be told to break
// connections or to be silent.
type Relay struct {
	to, at string

	mu       sync.Mutex
	listener net.Listener
	conns    map[net.Conn]bool // nil: it is stopped
	done     sync.WaitGroup

	gate   sync.RWMutex // what passes bytes on holds it
	silent atomic.Bool
}

// BeginRelay begins one to the server at the address to, which ends with the test. It
// listens at the address at, as "127.0.0.1:0".
func BeginRelay(tb testing.TB, to, at string) *Relay {
	tb.Helper()
	r := &Relay{to: to, at: at}
	if err := r.Start(); err != nil {
		tb.Fatalf("relay: %v", err)
	}
	tb.Cleanup(func() {
		r.Speak()
		if err := r.Stop(); err != nil {
			tb.Errorf("stop the relay: %v", err)
		}
	})
	return r
}

// Start lets a relay that was stopped listen again at its address. While it was stopped,
// the system may have given its port to a connection of another process, so it waits
// until the port is free.
func (r *Relay) Start() error {
	listener, err := listen(r.at, time.Now().Add(startTimeout))
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.at = listener.Addr().String()
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

// startTimeout bounds the wait of Start for its port.
const startTimeout = 30 * time.Second

func listen(address string, until time.Time) (net.Listener, error) {
	for {
		listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", address)
		if !errors.Is(err, syscall.EADDRINUSE) || time.Now().After(until) {
			return listener, err
		}
		<-time.After(100 * time.Millisecond)
	}
}

// Address is where the relay listens, or has listened.
func (r *Relay) Address() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.at
}

// Stop breaks every connection, refuses new ones, and waits until the relay is gone. It
// ends a silence. A second Stop does nothing.
func (r *Relay) Stop() error {
	r.mu.Lock()
	conns := r.conns
	r.conns = nil
	err := r.listener.Close()
	for conn := range conns {
		_ = conn.Close()
	}
	r.mu.Unlock()
	r.Speak() // what waited to pass bytes on finds its connection closed
	r.done.Wait()
	if conns == nil {
		return nil // it was stopped before
	}
	return err
}

// keep notes a connection that Stop has to break; false: it comes too late.
func (r *Relay) keep(conn net.Conn) bool {
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
func (r *Relay) drop(conn net.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	_ = conn.Close()
	delete(r.conns, conn)
}

// Silence lets no byte through any more, in either direction, and leaves the connections
// as they are.
func (r *Relay) Silence() {
	r.gate.Lock()
	r.silent.Store(true)
}

// Speak ends a silence.
func (r *Relay) Speak() {
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

func (r *Relay) serve(client net.Conn) {
	if !r.keep(client) {
		return
	}
	defer r.drop(client)
	server, err := (&net.Dialer{Timeout: time.Second}).DialContext(context.Background(), "tcp",
		r.to)
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
