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

// TranslateNetwork returns err as an *Error of kind Connection if it is one of the
// network, else err itself. A driver calls it when an error leaves the connection to its
// database: only there is it known that an io.EOF or a reset is the database's. ErrorKind
// must not claim such an error by itself, because other parts of the process return the
// same ones.
//
// It leaves out the end of a context, which xdb knows by itself, and an alert that ends a
// TLS handshake, which waiting does not fix.
func TranslateNetwork(err error) error {
	if err == nil || !isNetwork(err) {
		return err
	}
	return Translate(Connection, err, err.Error())
}

func isNetwork(err error) bool {
	for _, broken := range []error{
		sqldriver.ErrBadConn, io.EOF, io.ErrUnexpectedEOF, net.ErrClosed,
		syscall.ECONNREFUSED, syscall.ECONNRESET, syscall.ECONNABORTED, syscall.EPIPE,
	} {
		if errors.Is(err, broken) {
			return true
		}
	}
	if op, ok := errors.AsType[*net.OpError](err); ok {
		return op.Op != tlsAlert
	}
	_, isName := errors.AsType[*net.DNSError](err)
	return isName
}
