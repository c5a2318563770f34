package driver

import (
	sqldriver "database/sql/driver"
	"errors"
	"io"
	"net"
	"syscall"
)

// tlsAlert is the operation of a *net.OpError by which crypto/tls says that the other side refuses to go on.
const tlsAlert = "remote error"

// Network returns Connection for an error of the network below a database library, else Unknown. A driver asks it where its
// own table has nothing to say. It leaves out the end of a context, which xdb knows by itself, and an alert that ends a TLS
// handshake, which waiting does not mend.
func Network(err error) ErrorKind {
	for _, broken := range []error{
		sqldriver.ErrBadConn, io.EOF, io.ErrUnexpectedEOF, net.ErrClosed,
		syscall.ECONNREFUSED, syscall.ECONNRESET, syscall.ECONNABORTED, syscall.EPIPE,
	} {
		if errors.Is(err, broken) {
			return Connection
		}
	}
	var op *net.OpError
	if errors.As(err, &op) && op.Op == tlsAlert {
		return Unknown
	}
	var name *net.DNSError
	if op != nil || errors.As(err, &name) {
		return Connection
	}
	return Unknown
}
