package postgres_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"gorm.io/gorm"

	"github.com/plinthgo/plinth/conformance/dbtest"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
	"github.com/plinthgo/plinth/dbplugins/postgres"
)

// configOf converts the DSN of a test server to a configuration.
func configOf(dsn string) driver.Config {
	c, err := pgx.ParseConfig(dsn)
	if err != nil {
		// err would quote the DSN
		panic("invalid DSN of the test server")
	}
	return driver.Config{
		Host: c.Host, Port: int(c.Port), User: c.User, Pass: c.Password, Name: c.Database,
		TLS: driver.TLSDisable,
	}
}

// find returns the test server and its configuration, or skips the test.
func find(tb testing.TB) (dbtest.Server, driver.Config) {
	tb.Helper()
	server := dbtest.FindServer(tb, postgres.Name)
	return server, configOf(server.DSN)
}

// admin connects to the test server without the driver under test.
func admin(tb testing.TB, dsn string) *pgx.Conn {
	tb.Helper()
	conn, err := pgx.Connect(tb.Context(), dsn)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := conn.Close(context.WithoutCancel(tb.Context())); err != nil {
			tb.Error(err)
		}
	})
	return conn
}

// execAll executes statements, also during cleanup.
func execAll(tb testing.TB, conn *pgx.Conn, statements ...string) {
	tb.Helper()
	for _, s := range statements {
		if _, err := conn.Exec(context.WithoutCancel(tb.Context()), s); err != nil {
			tb.Fatalf("%s: %v", s, err)
		}
	}
}

// queryValue returns the single value of a query.
func queryValue[T any](tb testing.TB, conn *pgx.Conn, query string, args ...any) (value T) {
	tb.Helper()
	if err := conn.QueryRow(tb.Context(), query, args...).Scan(&value); err != nil {
		tb.Fatalf("%s: %v", query, err)
	}
	return value
}

func quote(name string) string { return pgx.Identifier{name}.Sanitize() }

// created numbers the databases that the tests create.
var created atomic.Int64

// newDatabase creates a user and a database whose names contain text. The password is
// text.
func newDatabase(tb testing.TB, server dbtest.Server, text, options string) driver.Config {
	tb.Helper()
	conn := admin(tb, server.DSN)
	n := fmt.Sprintf("plinth%d_%d", os.Getpid(), created.Add(1))
	c := configOf(server.DSN)
	// Names start and end with a space. Names may be logged, so they must not contain the
	// password.
	c.User, c.Pass, c.Name = n+text, text+"secret"+text, text+n
	pass, err := conn.PgConn().EscapeString(c.Pass)
	if err != nil {
		tb.Fatal(err)
	}
	execAll(tb, conn,
		"CREATE ROLE "+quote(c.User)+" LOGIN PASSWORD '"+pass+"'",
		"CREATE DATABASE "+quote(c.Name)+" OWNER "+quote(c.User)+" "+options)
	tb.Cleanup(func() {
		execAll(tb, conn, "DROP DATABASE "+quote(c.Name)+" WITH (FORCE)",
			"DROP ROLE "+quote(c.User))
	})
	return c
}

// verify returns a check that db uses the user and the database of c.
func verify(c driver.Config) func(db *gorm.DB) error {
	return func(db *gorm.DB) error {
		var user, name string
		row := db.Raw("SELECT current_user, current_database()").Row()
		if err := row.Scan(&user, &name); err != nil {
			return err
		}
		if user != c.User || name != c.Name {
			return fmt.Errorf("%q on %q, want %q on %q", user, name, c.User, c.Name)
		}
		return nil
	}
}

// version returns the name and version of the server.
func version(tb testing.TB, conn *pgx.Conn) string {
	tb.Helper()
	text := queryValue[string](tb, conn, "SHOW server_version") // 15.4 (Debian 15.4-1)
	text, _, _ = strings.Cut(text, " ")
	return "PostgreSQL " + text
}
