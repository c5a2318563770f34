package postgres

import (
	"cmp"
	"context"
	"crypto/x509"
	sqldriver "database/sql/driver"
	"errors"
	"net"
	"slices"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

// connector is the connector of the library. It shortens connection errors.
type connector struct{ sqldriver.Connector }

// Connect implements driver.Connector.
func (c connector) Connect(ctx context.Context) (sqldriver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err == nil {
		return conn, nil
	}
	kind := cmp.Or(Driver{}.ErrorKind(err), driver.KindOf(driver.TranslateNetwork(err)))
	if kind != driver.Unknown {
		return nil, driver.Translate(kind, err, connectText(err))
	}
	return nil, &connectError{err}
}

// connectError is a connection error without a kind.
type connectError struct{ cause error }

// Error implements error.
func (e *connectError) Error() string {
	return driver.Connection.String() + ": " + connectText(e.cause)
}

// Unwrap returns the library's error.
func (e *connectError) Unwrap() error { return e.cause }

// connectText returns the errors of all addresses on one line.
func connectText(err error) string {
	var e *pgconn.ConnectError
	var several interface{ Unwrap() []error }
	messages := []string{err.Error()}
	if errors.As(err, &e) {
		attempts := []error{e.Unwrap()}
		if errors.As(e, &several) {
			attempts = several.Unwrap()
		}
		messages = nil
		for _, attempt := range attempts {
			// sslmode=prefer tries each address twice
			if text := attemptText(attempt); !slices.Contains(messages, text) {
				messages = append(messages, text)
			}
		}
	}
	return strings.ReplaceAll(strings.Join(messages, "; "), "\n", " ")
}

// attemptText returns the address and the cause of a failed attempt. The library's format
// is "address (host): operation: cause".
func attemptText(err error) string {
	var name *net.DNSError
	if errors.As(err, &name) {
		return name.Name + ": " + name.Err
	}
	address, rest, ok := strings.Cut(err.Error(), "): ")
	if !ok {
		return err.Error()
	}
	address, _, _ = strings.Cut(address, " (")
	return address + ": " + cause(err, rest)
}

// cause returns the cause of a connection error and the variables to check.
func cause(err error, text string) string {
	var (
		serverErr *pgconn.PgError
		errno     syscall.Errno
		untrusted x509.UnknownAuthorityError
		misnamed  x509.HostnameError
	)
	switch {
	case errors.As(err, &serverErr):
		return serverErr.Message + hint(variables[serverErr.Code]...)
	case errors.As(err, &untrusted):
		return untrusted.Error() + hint(xenv.DatabaseTLSCA)
	case errors.As(err, &misnamed):
		return misnamed.Error() + hint(xenv.DatabaseHost)
	case errors.As(err, &errno):
		return errno.Error()
	case strings.HasSuffix(text, "server refused TLS connection"):
		return text + hint(xenv.DatabaseTLS)
	default:
		// the library formats a nil error
		return strings.TrimSuffix(text, ": %!w(<nil>)")
	}
}

// variables maps the SQLSTATE of a failed login to the variables to check.
var variables = map[string][]xenv.EnvKey{
	"22023": {"DATABASE_TIMEZONE"}, // only the time zone is set as a session parameter
	"28000": {xenv.DatabaseUser, xenv.DatabaseTLS},
	"28P01": {xenv.DatabaseUser, xenv.DatabasePass},
	"3D000": {xenv.DatabaseName},
	"42501": {xenv.DatabaseUser, xenv.DatabaseName},
}

// hint lists the variables to check, and DATABASE_DSN, which may replace them.
func hint(keys ...xenv.EnvKey) string {
	if len(keys) == 0 {
		return ""
	}
	names := make([]string, len(keys))
	for i, key := range keys {
		names[i] = string(key)
	}
	return " (" + strings.Join(names, ", ") + " or " + string(xenv.DatabaseDsn) + ")"
}
