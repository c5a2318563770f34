package mysql

import (
	"context"
	sqldriver "database/sql/driver"
	"errors"
	"net"

	gosql "github.com/go-sql-driver/mysql"

	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

// connector opens the connections of one pool. It adds to the library's that a statement
// which is given up ends on the server too: the library only hangs up, which the server
// does not notice while it waits for a lock. An update of one statement would happen
// minutes later, when the lock is granted and no caller expects it any more.
type connector struct {
	sqldriver.Connector

	cfg *gosql.Config
}

func newConnector(cfg *gosql.Config) (sqldriver.Connector, error) {
	c := &connector{cfg: cfg}
	watched := cfg.Clone()
	if cfg.Net == "tcp" || cfg.Net == "unix" { // else dialed by a function of the application
		watched.DialFunc = c.dial
	}
	var err error
	c.Connector, err = gosql.NewConnector(watched)
	return c, err
}

// wireKey is the key of the context under which dial leaves what it has dialed.
type wireKey struct{}

func (c *connector) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	inner, err := (&net.Dialer{}).DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	w := &wire{Conn: inner, kill: c.kill}
	if place, ok := ctx.Value(wireKey{}).(**wire); ok {
		*place = w
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
	s, err := ask(ctx, lib)
	var refused *gosql.MySQLError
	switch {
	case err == nil:
		w.watch(s)
	case !errors.As(err, &refused): // a proxy may not know what it is asked
		return nil, errors.Join(err, lib.Close())
	}
	return &conn{library: lib, wire: w}, nil
}

// library is what database/sql uses of the library's connections.
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

// conn is the library's connection, whose proper end is no giving up.
type conn struct {
	library

	wire *wire
}

// Close implements driver.Conn.
func (c *conn) Close() error {
	c.wire.leave()
	return c.library.Close()
}
