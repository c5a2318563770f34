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

// Relay copies bytes between its clients and a server. It can close connections and
// stop copying.
type Relay struct {
	target, address string

	mu       sync.Mutex
	listener net.Listener
	conns    map[net.Conn]bool // nil after Stop
	done     sync.WaitGroup

	gate   sync.RWMutex // read-locked while bytes are written
	silent atomic.Bool
}

// StartRelay starts a relay from address, such as "127.0.0.1:0", to the server at target.
// The relay stops when the test completes.
func StartRelay(tb testing.TB, target, address string) *Relay {
	tb.Helper()
	r := &Relay{target: target, address: address}
	if err := r.Start(); err != nil {
		tb.Fatalf("relay: %v", err)
	}
	tb.Cleanup(func() {
		r.Unblock()
		if err := r.Stop(); err != nil {
			tb.Errorf("stop the relay: %v", err)
		}
	})
	return r
}

// Start restarts a stopped relay at its address. It waits until the port is free, because
// the system may have assigned the port to a connection of another process.
func (r *Relay) Start() error {
	listener, err := listen(r.address, time.Now().Add(startTimeout))
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.address = listener.Addr().String()
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

// startTimeout limits the wait of Start for its port.
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

// Address returns the address of the relay, also after Stop.
func (r *Relay) Address() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.address
}

// Stop closes every connection, rejects new ones and waits for the goroutines of the
// relay. It also resumes copying, like Unblock. A second Stop does nothing.
func (r *Relay) Stop() error {
	r.mu.Lock()
	conns := r.conns
	r.conns = nil
	err := r.listener.Close()
	for conn := range conns {
		_ = conn.Close()
	}
	r.mu.Unlock()
	r.Unblock() // blocked writers find their connections closed
	r.done.Wait()
	if conns == nil {
		return nil // already stopped
	}
	return err
}

// track registers a connection that Stop closes. It returns false if the relay is
// stopped.
func (r *Relay) track(conn net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.conns == nil {
		_ = conn.Close()
		return false
	}
	r.conns[conn] = true
	return true
}

// remove closes a connection.
func (r *Relay) remove(conn net.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	_ = conn.Close()
	delete(r.conns, conn)
}

// Block stops copying bytes in both directions. The connections remain open.
func (r *Relay) Block() {
	r.gate.Lock()
	r.silent.Store(true)
}

// Unblock resumes copying after Block.
func (r *Relay) Unblock() {
	if r.silent.CompareAndSwap(true, false) {
		r.gate.Unlock()
	}
}

// gatedWriter is a writer that blocks between Block and Unblock.
type gatedWriter struct {
	io.Writer

	gate *sync.RWMutex
}

// Write implements io.Writer.
func (g gatedWriter) Write(p []byte) (int, error) {
	g.gate.RLock()
	defer g.gate.RUnlock()
	return g.Writer.Write(p)
}

func (r *Relay) serve(client net.Conn) {
	if !r.track(client) {
		return
	}
	defer r.remove(client)
	server, err := (&net.Dialer{Timeout: time.Second}).DialContext(context.Background(), "tcp",
		r.target)
	if err != nil || !r.track(server) {
		return
	}
	defer r.remove(server)
	var both sync.WaitGroup
	for _, pair := range [][2]net.Conn{{client, server}, {server, client}} {
		both.Go(func() {
			_, _ = io.Copy(gatedWriter{pair[0], &r.gate}, pair[1])
			_ = client.Close() // also stops the other copy
			_ = server.Close()
		})
	}
	both.Wait()
}
