package runner

import (
	"net"

	"google.golang.org/grpc/credentials"
)

// following is credentials whose connections have visible frames.
type following struct {
	credentials.TransportCredentials
}

// ServerHandshake implements credentials.TransportCredentials.
func (f following) ServerHandshake(raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	conn, info, err := f.TransportCredentials.ServerHandshake(raw)
	if from, ok := raw.LocalAddr().(*localAddr); ok && err == nil {
		from.source.followed.Store(true)
		conn = &followed{Conn: conn, frames: frames{source: from.source}}
	}
	return conn, info, err
}

// Clone implements credentials.TransportCredentials.
func (f following) Clone() credentials.TransportCredentials {
	return following{f.TransportCredentials.Clone()}
}

// followed is a connection after the handshake of credentials.
type followed struct {
	net.Conn
	frames frames
}

// Read implements net.Conn.
func (c *followed) Read(b []byte) (int, error) {
	n, err := c.frames.read(c.Conn, b)
	c.frames.source.relieved()
	return n, err
}
