package redis_test

import (
	"context"
	"net"
	"net/url"
	"strings"
	"sync"
	"testing"
)

// relay is a proxy of the server that can hold back all traffic, like a broken network.
type relay struct {
	listener net.Listener
	target   string

	mu     sync.Mutex
	conns  []net.Conn
	open   chan struct{} // closed while traffic passes
	paused bool
}

// newRelay returns a relay to the server of a URL, and the URL of the relay.
func newRelay(tb testing.TB, address string) (*relay, string) {
	tb.Helper()
	l, err := new(net.ListenConfig).Listen(tb.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	return relayFrom(tb, l, address)
}

// relayFrom is newRelay for a listener, which may use TLS.
func relayFrom(tb testing.TB, l net.Listener, address string) (*relay, string) {
	tb.Helper()
	u, err := url.Parse(address)
	if err != nil {
		tb.Fatal("the server's URL cannot be parsed")
	}
	r := &relay{listener: l, target: u.Host, open: make(chan struct{})}
	close(r.open)
	var all sync.WaitGroup
	all.Go(func() { r.accept(&all) })
	tb.Cleanup(func() {
		_ = l.Close()
		r.resume()
		r.mu.Lock()
		for _, c := range r.conns {
			_ = c.Close()
		}
		r.mu.Unlock()
		all.Wait()
	})
	return r, strings.Replace(address, u.Host, l.Addr().String(), 1)
}

func (r *relay) accept(all *sync.WaitGroup) {
	for {
		client, err := r.listener.Accept()
		if err != nil {
			return
		}
		server, err := new(net.Dialer).DialContext(context.Background(), "tcp", r.target)
		if err != nil {
			_ = client.Close()
			continue
		}
		r.mu.Lock()
		r.conns = append(r.conns, client, server)
		r.mu.Unlock()
		all.Go(func() { r.copy(server, client) })
		all.Go(func() { r.copy(client, server) })
	}
}

func (r *relay) copy(to, from net.Conn) {
	defer func() { _, _ = to.Close(), from.Close() }()
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		r.mu.Lock()
		open := r.open
		r.mu.Unlock()
		<-open
		if n > 0 {
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// pause holds back all traffic until resume.
func (r *relay) pause() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.paused {
		r.open, r.paused = make(chan struct{}), true
	}
}

func (r *relay) resume() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.paused {
		close(r.open)
		r.paused = false
	}
}
