package driver

import (
	sqldriver "database/sql/driver"
	"errors"
	"io"
	"net"
	"syscall"
)

// tlsAlert is the operation of a *net.OpError with which crypto/tls reports an
// alert of the other side.
const tlsAlert = "remote error"

// TranslateNetwork returns err as an *Error of kind Connection if Network knows it, else
// err itself. A driver calls it when an error leaves the connection to its database:
// only there is it known that an io.EOF or a reset is the database's. ErrorKind must not
// claim such an error by itself, because other parts of the process return the same ones.
func TranslateNetwork(err error) error {
	if err == nil {
		return nil
	}
	return Translate(Network(err), err, err.Error())
}

// Network returns Connection for an error of the network, else Unknown. It is for errors
// that are known to come from a database. It leaves out the end of a context, which xdb
// knows by itself, and an alert that ends a TLS handshake, which waiting does not fix.
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
