// Package pgtest provides temporary PostgreSQL databases for tests.
package pgtest

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/plinthgo/plinth/conformance/dbtest"
	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/major/xdb"
	_ "github.com/plinthgo/plinth/dbplugins/postgres" // creates and drops the database
)

// Database creates a database that is dropped when the test ends, and returns its
// variables as NAME=value. Without a server, it skips the test.
func Database(tb testing.TB) []string {
	tb.Helper()
	server, err := url.Parse(dbtest.FindServer(tb, "postgres").DSN)
	if err != nil {
		tb.Fatal("invalid connection string of the server")
	}
	name := fmt.Sprintf("plinth_test_%d", time.Now().UnixNano())
	execute(tb, server.String(), "CREATE DATABASE "+name)
	tb.Cleanup(func() { execute(tb, server.String(), "DROP DATABASE "+name+" WITH (FORCE)") })
	password, _ := server.User.Password()
	return []string{
		"DATABASE_HOST=" + server.Hostname(), "DATABASE_PORT=" + server.Port(),
		"DATABASE_USER=" + server.User.Username(),
		"DATABASE_PASS=" + password, "DATABASE_NAME=" + name,
	}
}

func execute(tb testing.TB, dsn, statement string) {
	tb.Helper()
	ctx := context.WithoutCancel(tb.Context())
	db, err := xdb.Open(ctx, xdb.Options{Driver: "postgres", DSN: xlog.Secret(dsn)})
	if err != nil {
		tb.Error(err)
		return
	}
	if err := db.WithContext(ctx).Exec(statement).Error; err != nil {
		tb.Errorf("%s: %v", strings.Fields(statement)[0], err)
	}
	if err := xdb.Close(db); err != nil {
		tb.Error(err)
	}
}
