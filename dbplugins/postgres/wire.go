package postgres

import (
	"context"
	"errors"
	"io"
	"net"
	"os"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

// dialer returns a DialFunc that dials with inner and translates the errors of its
// connections.
func dialer(inner pgconn.DialFunc) pgconn.DialFunc {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := inner(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return wire{conn}, nil
	}
}

// wire is a network connection with translated errors. The library returns them
// unchanged, including errors of rows and transactions.
type wire struct{ net.Conn }

// Read implements net.Conn.
func (w wire) Read(p []byte) (int, error) {
	n, err := w.Conn.Read(p)
	return n, translate(err)
}

// Write implements net.Conn.
func (w wire) Write(p []byte) (int, error) {
	n, err := w.Conn.Write(p)
	return n, translate(err)
}

// translate translates a network error, except the timeout of a canceled call.
func translate(err error) error {
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return err // the library interrupted a call whose context was canceled
	case err == io.EOF: // the library also replaces io.EOF only if it is not wrapped
		err = io.ErrUnexpectedEOF
	}
	return driver.TranslateNetwork(err)
}
