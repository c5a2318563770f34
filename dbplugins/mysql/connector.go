package mysql

import (
	"context"
	sqldriver "database/sql/driver"
	"errors"
	"net"

	gosql "github.com/go-sql-driver/mysql"

	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

// connector opens the connections of one pool. If a context is canceled, the library only
// closes the network connection, which the server does not notice while it waits for a
// lock. The connector also kills the session, so that the statement has no effect after
// the call has returned.
type connector struct {
	sqldriver.Connector

	cfg *gosql.Config
}

func newConnector(cfg *gosql.Config) (sqldriver.Connector, error) {
	c := &connector{cfg: cfg}
	watchedCfg := cfg.Clone()
	// the application registers a dial function for other networks
	if cfg.Net == "tcp" || cfg.Net == "unix" {
		watchedCfg.DialFunc = c.dial
	}
	var err error
	c.Connector, err = gosql.NewConnector(watchedCfg)
	return c, err
}

// wireKey is the context key of the *wire that dial stores.
type wireKey struct{}

func (c *connector) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	inner, err := (&net.Dialer{}).DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	w := &wire{Conn: inner, kill: c.kill}
	if target, ok := ctx.Value(wireKey{}).(**wire); ok {
		*target = w
	}
	return w, nil
}

// Connect implements driver.Connector.
func (c *connector) Connect(ctx context.Context) (sqldriver.Conn, error) {
	var w *wire
	inner, err := c.Connector.Connect(context.WithValue(ctx, wireKey{}, &w))
	if err != nil {
		return nil, driver.TranslateNetwork(err)
	}
	lib, ok := inner.(library)
	if !ok || w == nil {
		return inner, nil
	}
	s, err := querySession(ctx, lib)
	var serverErr *gosql.MySQLError
	switch {
	case err == nil:
		w.attach(s)
	case !errors.As(err, &serverErr): // a proxy may not support the query
		return nil, errors.Join(err, lib.Close())
	}
	return &conn{library: lib, wire: w}, nil
}

// library contains the methods of the library's connections that database/sql uses.
type library interface {
	sqldriver.Conn
	sqldriver.ConnBeginTx
	sqldriver.ConnPrepareContext
	sqldriver.ExecerContext
	sqldriver.NamedValueChecker
	sqldriver.Pinger
	sqldriver.QueryerContext
	sqldriver.SessionResetter
	sqldriver.Validator
}

// conn is a connection of the library that closes without killing its session.
type conn struct {
	library

	wire *wire
}

// Close implements driver.Conn.
func (c *conn) Close() error {
	c.wire.detach()
	return c.library.Close()
}
