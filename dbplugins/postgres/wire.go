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

// dialer returns a function that dials with inner and marks the errors of its
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

// wire is the network below a connection, whose errors are marked as the database's. The
// library returns them as they are, from rows and transactions too.
type wire struct{ net.Conn }

// Read implements net.Conn.
func (w wire) Read(p []byte) (int, error) {
	n, err := w.Conn.Read(p)
	return n, broken(err)
}

// Write implements net.Conn.
func (w wire) Write(p []byte) (int, error) {
	n, err := w.Conn.Write(p)
	return n, broken(err)
}

func broken(err error) error {
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return err // the library has ended a call whose context has ended
	case err == io.EOF: // the value itself, as the library compares it
		err = io.ErrUnexpectedEOF
	}
	return driver.TranslateNetwork(err)
}
