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

// setUp is the first statement of a session. It makes functions such as LOCALTIMESTAMP,
// and times without a time zone, use UTC instead of the client's time zone. A schema
// change waits up to 30 seconds for writers of the table; by default it fails without
// waiting (ORA-00054).
const setUp = "ALTER SESSION SET TIME_ZONE = '+00:00' DDL_LOCK_TIMEOUT = 30"

// loginTimeout limits a login, because database/sql may pass a context without a
// deadline. Otherwise a listener that does not respond would occupy a connection of the
// pool.
const loginTimeout = 15 * time.Second

var errLogin = errors.New("oracle: login timeout")

// opener opens a connection of the library that uses wire w.
type opener func(ctx context.Context, w *wire) (sqldriver.Conn, error)

// connector opens the connections of one pool.
type connector struct {
	open    opener
	timeout time.Duration // timeout of a login
}

// library returns the opener of go-ora. Each connection uses its own connector, because
// the library modifies a shared connector and its TLS configuration without a lock.
func library(dsn string, config *tls.Config) opener {
	return func(ctx context.Context, w *wire) (sqldriver.Conn, error) {
		inner := go_ora.NewConnector(dsn)
		if c, ok := inner.(*go_ora.OracleConnector); ok {
			c.Dialer(w)
			if config != nil {
				c.WithTLSConfig(config.Clone())
			}
		}
		return inner.Connect(ctx)
	}
}

// Connect implements driver.Connector.
func (c *connector) Connect(ctx context.Context) (sqldriver.Conn, error) {
	n := &conn{wire: &wire{}}
	loginCtx, cancel := context.WithTimeoutCause(ctx, c.timeout, errLogin)
	defer cancel()
	err := n.do(loginCtx, func() error {
		inner, err := c.login(loginCtx, n.wire)
		if err != nil {
			return err
		}
		n.libraryConn = inner.(libraryConn) //nolint:forcetypeassert // the library's type
		_, err = n.libraryConn.ExecContext(loginCtx, setUp, nil)
		return err
	})
	if err != nil {
		n.wire.close() // the library does not close it
		if errors.Is(err, context.DeadlineExceeded) &&
			errors.Is(context.Cause(loginCtx), errLogin) {
			// the login timeout, not the deadline of the caller
			err = driver.Translate(driver.Connection, errLogin, errLogin.Error())
		}
		return nil, err
	}
	return n, nil
}

// login opens a connection. If ctx is canceled, login closes it. The library does not
// receive ctx, because it handles a cancellation in another goroutine without
// synchronization.
func (c *connector) login(ctx context.Context, w *wire) (sqldriver.Conn, error) {
	w.loginCtx = ctx
	defer context.AfterFunc(ctx, w.close)()
	return c.open(context.WithoutCancel(ctx), w)
}

// Driver implements driver.Connector.
func (c *connector) Driver() sqldriver.Driver { return go_ora.GetDefaultDriver() }
