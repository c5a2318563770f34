package webhook

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"sync"
)

// newTransport returns a transport without a proxy and without decompression. Unlike an
// http.Client, a transport follows no redirects and stores no cookies. Dial and handshake
// have their own timeouts, because net/http continues them after the request was
// canceled.
//
// Each attempt uses a new HTTP/1.1 connection. Webhooks are infrequent, so an idle
// connection may be closed before it is reused. It may also contain unsolicited bytes,
// which net/http writes to the standard logger. With HTTP/2, concurrent attempts would
// share a connection.
func newTransport(c *config, g guard) *http.Transport {
	d := &dialer{
		Dialer: net.Dialer{Timeout: c.timeout, Resolver: c.resolver, ControlContext: g.control},
		tls: &tls.Config{
			MinVersion: tls.VersionTLS12, RootCAs: c.roots, NextProtos: []string{"http/1.1"},
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

// dialer opens connections of type *writeFirstConn.
type dialer struct {
	net.Dialer

	tls *tls.Config
}

func (d *dialer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := d.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return newWriteFirstConn(conn), nil
}

func (d *dialer) dialTLS(ctx context.Context, network, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	// the timeouts of dial and handshake
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
		_ = raw.Close() // report the handshake error
		return nil, err
	}
	return newWriteFirstConn(conn), nil
}

// writeFirstConn blocks reads until the first write. net/http reads as soon as the
// connection is open, and writes bytes received before the request to the standard
// logger.
type writeFirstConn struct {
	net.Conn

	markReady func()
	ready     chan struct{} // closed by the first Write or Close
}

func newWriteFirstConn(conn net.Conn) *writeFirstConn {
	ready := make(chan struct{})
	return &writeFirstConn{
		Conn: conn, ready: ready, markReady: sync.OnceFunc(func() { close(ready) }),
	}
}

// Read implements net.Conn.
func (c *writeFirstConn) Read(p []byte) (int, error) {
	<-c.ready
	return c.Conn.Read(p)
}

// Write implements net.Conn.
func (c *writeFirstConn) Write(p []byte) (int, error) {
	c.markReady()
	return c.Conn.Write(p)
}

// Close implements net.Conn.
func (c *writeFirstConn) Close() error {
	err := c.Conn.Close()
	c.markReady()
	return err
}
