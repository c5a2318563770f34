package sqlserver

import (
	"context"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"time"

	mssql "github.com/microsoft/go-mssqldb"

	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

// loginTimeout bounds a login whose context has no end.
const loginTimeout = 15 * time.Second

var errNoLogin = errors.New("no answer to the login within " + loginTimeout.String())

// connector opens the connections of one pool. It adds to the library's that a login ends
// with its context: the library reads the first answers of a server without one, and
// would wait for ever for a server that is silent.
type connector struct {
	*mssql.Connector

	keepAlive time.Duration
}

func newConnector(dsn string) (*connector, error) {
	cfg, err := parse(dsn)
	if err != nil {
		return nil, err
	}
	for _, text := range []*string{
		&cfg.User, &cfg.Password, &cfg.Database, &cfg.AppName,
		&cfg.ChangePassword,
	} {
		*text = padded(*text)
	}
	return &connector{mssql.NewConnectorConfig(cfg), cfg.KeepAlive}, nil
}

// padded makes up for a fault of the library: it counts the characters of a text of the
// login, but the protocol counts UTF-16 units, so that a server sees a text with n
// characters beyond the basic plane without its last n units. With n more behind it the
// length is right, and the server reads the text alone.
func padded(text string) string {
	n := 0
	for _, r := range text {
		if r > 0xffff {
			n++
		}
	}
	return text + strings.Repeat(" ", n)
}

// Connect implements driver.Connector.
func (c *connector) Connect(ctx context.Context) (sqldriver.Conn, error) {
	bounded, cancel := context.WithTimeoutCause(ctx, loginTimeout, errNoLogin)
	defer cancel()
	w := &wires{keepAlive: c.keepAlive}
	login := *c.Connector
	login.Dialer = w
	stop := context.AfterFunc(bounded, w.cut)
	inner, err := login.Connect(bounded)
	if !stop() { // it is cut, or will be
		if ended := ctx.Err(); ended != nil {
			return nil, ended
		}
		return nil, driver.Translate(driver.Connection, errNoLogin, errNoLogin.Error())
	}
	if err != nil {
		return nil, w.explain(err)
	}
	lib, ok := inner.(*mssql.Conn)
	if !ok {
		w.cut()
		return nil, fmt.Errorf("sqlserver: %T is no connection of the library", inner)
	}
	return &conn{lib, w}, nil
}
