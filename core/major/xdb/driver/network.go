package driver

import (
	sqldriver "database/sql/driver"
	"errors"
	"io"
	"net"
	"syscall"
)

// Network returns Connection for an error of the network below a database library, else Unknown. A driver asks it where its
// own table has nothing to say. The end of a context is none: xdb knows that by itself.
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
	var name *net.DNSError
	if errors.As(err, &op) || errors.As(err, &name) {
		return Connection
	}
	return Unknown
}
