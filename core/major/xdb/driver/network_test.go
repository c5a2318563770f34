package driver_test

import (
	"context"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"testing"

	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

func TestTranslateNetwork(t *testing.T) {
	t.Run("classifies network errors", func(t *testing.T) {
		for _, tc := range []struct {
			name string
			err  error
			want driver.ErrorKind
		}{
			{name: "nil"},
			{name: "plain", err: errors.New("plain")},
			{name: "context error", err: context.DeadlineExceeded},
			{
				name: "refused", err: &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED},
				want: driver.Connection,
			},
			{
				name: "an alert of TLS",
				err:  &net.OpError{Op: "remote error", Err: errors.New("tls: bad certificate")},
			},
			{
				name: "unknown host", err: &net.DNSError{Name: "db", IsNotFound: true},
				want: driver.Connection,
			},
			{
				name: "reset", err: fmt.Errorf("read: %w", syscall.ECONNRESET),
				want: driver.Connection,
			},
			{name: "end of file", err: fmt.Errorf("read: %w", io.EOF), want: driver.Connection},
			{name: "unexpected end of file", err: io.ErrUnexpectedEOF, want: driver.Connection},
			{name: "closed", err: net.ErrClosed, want: driver.Connection},
			{name: "bad connection", err: sqldriver.ErrBadConn, want: driver.Connection},
		} {
			t.Run(tc.name, func(t *testing.T) {
				if got := driver.KindOf(driver.TranslateNetwork(tc.err)); got != tc.want {
					t.Errorf("kind = %v, want %v", got, tc.want)
				}
			})
		}
	})

	t.Run("keeps the cause and other errors", func(t *testing.T) {
		if err := driver.TranslateNetwork(nil); err != nil {
			t.Errorf("TranslateNetwork(nil) = %v", err)
		}
		plain := errors.New("plain")
		if err := driver.TranslateNetwork(plain); err != plain { //nolint:errorlint // identity
			t.Errorf("TranslateNetwork(plain) = %v", err)
		}
		reset := &net.OpError{Op: "read", Err: syscall.ECONNRESET}
		err := driver.TranslateNetwork(reset)
		var own *net.OpError
		if driver.KindOf(err) != driver.Connection || !errors.As(err, &own) ||
			!errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("TranslateNetwork(reset) = %v of kind %q", err, driver.KindOf(err))
		}
	})
}
