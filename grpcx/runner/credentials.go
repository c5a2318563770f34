package runner

import (
	"net"

	"google.golang.org/grpc/credentials"
)

// frameCredentials wraps the connections of credentials in frameConn.
type frameCredentials struct {
	credentials.TransportCredentials
}

// ServerHandshake implements credentials.TransportCredentials.
func (f frameCredentials) ServerHandshake(raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	conn, info, err := f.TransportCredentials.ServerHandshake(raw)
	if from, ok := raw.LocalAddr().(*localAddr); ok && err == nil {
		from.source.parsed.Store(true)
		conn = &frameConn{Conn: conn, frames: frames{source: from.source}}
	}
	return conn, info, err
}

// Clone implements credentials.TransportCredentials.
func (f frameCredentials) Clone() credentials.TransportCredentials {
	return frameCredentials{f.TransportCredentials.Clone()}
}

// frameConn is a connection after the handshake. It parses the HTTP/2 frames that are
// read.
type frameConn struct {
	net.Conn
	frames frames
}

// Read implements net.Conn.
func (c *frameConn) Read(b []byte) (int, error) {
	n, err := c.frames.read(c.Conn, b)
	c.frames.source.enforceLimit()
	return n, err
}
