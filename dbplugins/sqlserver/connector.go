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

// loginTimeout limits a login whose context has no deadline.
const loginTimeout = 15 * time.Second

var errNoLogin = errors.New("no response to the login within " + loginTimeout.String())

// connector opens the connections of one pool. A login stops when its context is
// canceled. The library reads the first responses without a context and would block
// forever if the server does not respond.
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
		&cfg.User, &cfg.Password, &cfg.Database, &cfg.AppName, &cfg.ChangePassword,
	} {
		*text = padded(*text)
	}
	return &connector{mssql.NewConnectorConfig(cfg), cfg.KeepAlive}, nil
}

// padded works around a bug of the library. The library writes the length of a login
// string in characters, but the protocol counts UTF-16 units, so the server would lose
// the last n units of a string with n characters beyond the basic plane. padded appends n
// spaces, which the server does not read.
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
	loginCtx, cancel := context.WithTimeoutCause(ctx, loginTimeout, errNoLogin)
	defer cancel()
	w := &wires{keepAlive: c.keepAlive}
	login := *c.Connector
	login.Dialer = w
	stop := context.AfterFunc(loginCtx, w.close)
	inner, err := login.Connect(loginCtx)
	if !stop() { // w is closed or about to be closed
		if ctxErr := ctx.Err(); ctxErr != nil {
			return nil, ctxErr
		}
		return nil, driver.Translate(driver.Connection, errNoLogin, errNoLogin.Error())
	}
	if err != nil {
		return nil, w.explain(err)
	}
	lib, ok := inner.(*mssql.Conn)
	if !ok {
		w.close()
		return nil, fmt.Errorf("sqlserver: unexpected connection type %T", inner)
	}
	return &conn{lib, w}, nil
}
