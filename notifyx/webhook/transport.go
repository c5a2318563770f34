package webhook

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"sync"
)

// newTransport returns what makes one exchange, without a proxy and decompression. A bare
// transport knows no redirects and no cookies. Dial and handshake have the timeout of the
// whole exchange: net/http goes on with them after the request that asked for them is
// over.
//
// Each exchange has a connection of its own, of HTTP/1.1. Webhooks are sparse, and a
// connection that is kept may be dead by the time of the next one, or have bytes on it
// that nobody has asked for, which net/http writes to the log of the standard library.
// Exchanges at the same time would share one of HTTP/2.
func newTransport(c *config, g guard) *http.Transport {
	d := &dialer{
		Dialer: net.Dialer{Timeout: c.timeout, Resolver: c.resolver, ControlContext: g.control},
		tls: &tls.Config{
			MinVersion: tls.VersionTLS12, RootCAs: c.roots,
			NextProtos: []string{"http/1.1"},
		},
	}
	protocols := &http.Protocols{}
	protocols.SetHTTP1(true)
	return &http.Transport{
		DialContext:            d.dial,
		DialTLSContext:         d.dialTLS,
		DisableKeepAlives:      true,
		DisableCompression:     true,
		MaxResponseHeaderBytes: maxResponse,
		Protocols:              protocols,
	}
}

// dialer makes connections on which the client speaks first.
type dialer struct {
	net.Dialer

	tls *tls.Config
}

func (d *dialer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := d.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return newPoliteConn(conn), nil
}

func (d *dialer) dialTLS(ctx context.Context, network, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	// the dialer's, and as much for the handshake
	ctx, cancel := context.WithTimeout(ctx, 2*d.Timeout)
	defer cancel()
	raw, err := d.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	config := d.tls.Clone()
	config.ServerName = host
	conn := tls.Client(raw, config)
	if err := conn.HandshakeContext(ctx); err != nil {
		_ = raw.Close() // the handshake's error is the one that counts
		return nil, err
	}
	return newPoliteConn(conn), nil
}

// politeConn reads nothing before something was written. net/http reads a connection from
// its beginning on, and writes what comes before the request to the log of the standard
// library.
type politeConn struct {
	net.Conn

	begin func()
	ready chan struct{} // closed by the first Write, and by Close
}

func newPoliteConn(conn net.Conn) *politeConn {
	ready := make(chan struct{})
	return &politeConn{Conn: conn, ready: ready, begin: sync.OnceFunc(func() { close(ready) })}
}

// Read implements net.Conn.
func (c *politeConn) Read(p []byte) (int, error) {
	<-c.ready
	return c.Conn.Read(p)
}

// Write implements net.Conn.
func (c *politeConn) Write(p []byte) (int, error) {
	c.begin()
	return c.Conn.Write(p)
}

// Close implements net.Conn.
func (c *politeConn) Close() error {
	err := c.Conn.Close()
	c.begin()
	return err
}
