package oracle

import (
	"context"
	"crypto/tls"
	sqldriver "database/sql/driver"

	go_ora "github.com/sijms/go-ora/v2"
)

// utcSession lets functions such as LOCALTIMESTAMP, and times without a zone, be in UTC. The library sets the zone of the
// client's machine.
const utcSession = "ALTER SESSION SET TIME_ZONE = '+00:00'"

// opener opens a connection of the library on a wire.
type opener func(ctx context.Context, w *wire) (sqldriver.Conn, error)

// connector opens the connections of one pool.
type connector struct{ open opener }

// library returns the opener of go-ora. Each connection has a connector of its own: the library writes to a shared one, and
// to the TLS configuration, without a lock.
func library(dsn string, config *tls.Config) opener {
	return func(ctx context.Context, w *wire) (sqldriver.Conn, error) {
		own := go_ora.NewConnector(dsn)
		if c, ok := own.(*go_ora.OracleConnector); ok {
			c.Dialer(w)
			if config != nil {
				c.WithTLSConfig(config.Clone())
			}
		}
		return own.Connect(ctx)
	}
}

// Connect implements driver.Connector.
func (c *connector) Connect(ctx context.Context) (sqldriver.Conn, error) {
	n := &conn{wire: &wire{}}
	err := n.do(ctx, func() error {
		inner, err := c.open(ctx, n.wire)
		if err != nil {
			return err
		}
		n.libraryConn = inner.(libraryConn) //nolint:forcetypeassert // the library's type
		_, err = n.libraryConn.ExecContext(ctx, utcSession, nil)
		return err
	})
	if err != nil {
		n.wire.cut() // the library leaves it open
		return nil, err
	}
	return n, nil
}

// Driver implements driver.Connector.
func (c *connector) Driver() sqldriver.Driver { return go_ora.GetDefaultDriver() }
