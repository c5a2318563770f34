package oracle

import (
	"context"
	"crypto/tls"
	sqldriver "database/sql/driver"
	"errors"
	"time"

	go_ora "github.com/sijms/go-ora/v2"

	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

// setUp is what a session begins with. Functions such as LOCALTIMESTAMP, and times
// without a zone, are in UTC: the library sets the zone of the client's machine. A change
// of the schema waits for those who write to the table, 30 seconds at most; by default it
// fails at once (ORA-00054).
const setUp = "ALTER SESSION SET TIME_ZONE = '+00:00' DDL_LOCK_TIMEOUT = 30"

// loginTimeout bounds a login. database/sql also connects with a context that has no end,
// and the place in the pool would be lost to a listener that does not answer.
const loginTimeout = 15 * time.Second

var errLogin = errors.New("oracle: the login was not answered in time")

// opener opens a connection of the library on a wire.
type opener func(ctx context.Context, w *wire) (sqldriver.Conn, error)

// connector opens the connections of one pool.
type connector struct {
	open  opener
	limit time.Duration // of a login
}

// library returns the opener of go-ora. Each connection has a connector of its own: the
// library writes to a shared one, and to the TLS configuration, without a lock.
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
	limited, cancel := context.WithTimeoutCause(ctx, c.limit, errLogin)
	defer cancel()
	err := n.do(limited, func() error {
		inner, err := c.login(limited, n.wire)
		if err != nil {
			return err
		}
		n.libraryConn = inner.(libraryConn) //nolint:forcetypeassert // the library's type
		_, err = n.libraryConn.ExecContext(limited, setUp, nil)
		return err
	})
	if err != nil {
		n.wire.cut() // the library leaves it open
		if errors.Is(err, context.DeadlineExceeded) && errors.Is(context.Cause(limited), errLogin) {
			// not the caller's context
			err = driver.Translate(driver.Connection, errLogin, errLogin.Error())
		}
		return nil, err
	}
	return n, nil
}

// login opens a connection, which the end of ctx cuts. The library has no context to
// watch in the meantime: what it does when that ends, it does in another goroutine
// without a lock.
func (c *connector) login(ctx context.Context, w *wire) (sqldriver.Conn, error) {
	w.caller = ctx
	defer context.AfterFunc(ctx, w.cut)()
	return c.open(context.WithoutCancel(ctx), w)
}

// Driver implements driver.Connector.
func (c *connector) Driver() sqldriver.Driver { return go_ora.GetDefaultDriver() }
