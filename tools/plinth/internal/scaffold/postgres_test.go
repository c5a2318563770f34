//go:build unix

package scaffold_test

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	xLog "github.com/plinthgo/plinth/core/common/xlog"
	xDB "github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xdb/dbtest"
	_ "github.com/plinthgo/plinth/dbplugins/postgres"
)

// newDatabase makes a database on the PostgreSQL server for tests, and says with variables where it is.
func newDatabase(t *testing.T) []string {
	t.Helper()
	if testing.Short() {
		t.Skip("builds a whole service")
	}
	server, err := url.Parse(dbtest.FindServer(t, "postgres").DSN)
	if err != nil {
		t.Fatal("the connection string of the server does not parse")
	}
	database := fmt.Sprintf("plinth_new_%d", time.Now().UnixNano())
	execute(t, server.String(), "CREATE DATABASE "+database)
	t.Cleanup(func() { execute(t, server.String(), "DROP DATABASE "+database+" WITH (FORCE)") })
	password, _ := server.User.Password()
	return []string{
		"DATABASE_HOST=" + server.Hostname(), "DATABASE_PORT=" + server.Port(), "DATABASE_USER=" + server.User.Username(),
		"DATABASE_PASS=" + password, "DATABASE_NAME=" + database,
	}
}

func execute(t *testing.T, dsn, statement string) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	db, err := xDB.Open(ctx, xDB.Options{Driver: "postgres", DSN: xLog.Secret(dsn)})
	if err != nil {
		t.Error(err)
		return
	}
	if err := db.WithContext(ctx).Exec(statement).Error; err != nil {
		t.Errorf("%s: %v", strings.Fields(statement)[0], err)
	}
	if err := xDB.Close(db); err != nil {
		t.Error(err)
	}
}
