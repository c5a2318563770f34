package driver

import (
	sqldriver "database/sql/driver"
	"errors"
	"io"
	"net"
	"syscall"
)

// tlsAlert is the Op of the *net.OpError with which crypto/tls reports an alert of the
// peer.
const tlsAlert = "remote error"

// TranslateNetwork returns network errors as an *Error of kind Connection and any other
// error unchanged. Call it on the errors of a database connection, because only there an
// io.EOF or a reset is known to come from the database. ErrorKind must not classify such
// errors, which other parts of the process return too.
//
// It excludes context errors, which xdb handles, and TLS alerts, which a retry does not
// fix.
func TranslateNetwork(err error) error {
	if err == nil || !isNetwork(err) {
		return err
	}
	return Translate(Connection, err, err.Error())
}

func isNetwork(err error) bool {
	for _, netErr := range []error{
		sqldriver.ErrBadConn, io.EOF, io.ErrUnexpectedEOF, net.ErrClosed,
		syscall.ECONNREFUSED, syscall.ECONNRESET, syscall.ECONNABORTED, syscall.EPIPE,
	} {
		if errors.Is(err, netErr) {
			return true
		}
	}
	if op, ok := errors.AsType[*net.OpError](err); ok {
		return op.Op != tlsAlert
	}
	_, isDNS := errors.AsType[*net.DNSError](err)
	return isDNS
}
