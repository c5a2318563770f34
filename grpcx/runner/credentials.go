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
	from, ok := raw.(interface{ origin() *source })
	if err != nil || !ok || conn == raw {
		return conn, info, err
	}
	return &decrypted{Conn: conn, frames: frames{source: from.origin()}}, info, nil
}

// Clone implements credentials.TransportCredentials.
func (f following) Clone() credentials.TransportCredentials {
	return following{f.TransportCredentials.Clone()}
}

// decrypted is a connection after the handshake of credentials.
type decrypted struct {
	net.Conn
	frames frames
}

// Read implements net.Conn.
func (d *decrypted) Read(b []byte) (int, error) {
	n, err := d.frames.read(d.Conn, b)
	d.frames.source.received(0)
	return n, err
}
