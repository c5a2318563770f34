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

// parts turns the DSN of a test server into parts.
func parts(dsn string) driver.Config {
	c, err := pgx.ParseConfig(dsn)
	if err != nil {
		// err would quote it
		panic("PLINTH_TEST_POSTGRES_DSN, or the DSN of a private server, does not parse")
	}
	return driver.Config{
		Host: c.Host, Port: int(c.Port), User: c.User, Pass: c.Password, Name: c.Database,
		TLS: driver.TLSDisable,
	}
}

// find returns the test server and its parts, or skips the test.
func find(tb testing.TB) (dbtest.Server, driver.Config) {
	tb.Helper()
	server := dbtest.FindServer(tb, postgres.Name)
	return server, parts(server.DSN)
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

// do runs statements, of the cleanup too.
func do(tb testing.TB, conn *pgx.Conn, statements ...string) {
	tb.Helper()
	for _, s := range statements {
		if _, err := conn.Exec(context.WithoutCancel(tb.Context()), s); err != nil {
			tb.Fatalf("%s: %v", s, err)
		}
	}
}

// ask returns the one value of a query.
func ask[T any](tb testing.TB, conn *pgx.Conn, query string, args ...any) (value T) {
	tb.Helper()
	if err := conn.QueryRow(tb.Context(), query, args...).Scan(&value); err != nil {
		tb.Fatalf("%s: %v", query, err)
	}
	return value
}

func quote(name string) string { return pgx.Identifier{name}.Sanitize() }

// created numbers what the tests create on the server.
var created atomic.Int64

// newDatabase creates a user and a database of its own. Its names have text in them, its
// password is text.
func newDatabase(tb testing.TB, server dbtest.Server, text, options string) driver.Config {
	tb.Helper()
	conn := admin(tb, server.DSN)
	n := fmt.Sprintf("plinth%d_%d", os.Getpid(), created.Add(1))
	c := parts(server.DSN)
	// A space stands at either end of one of them. The password is no piece of a name,
	// which may be logged.
	c.User, c.Pass, c.Name = n+text, text+"secret"+text, text+n
	pass, err := conn.PgConn().EscapeString(c.Pass)
	if err != nil {
		tb.Fatal(err)
	}
	do(tb, conn,
		"CREATE ROLE "+quote(c.User)+" LOGIN PASSWORD '"+pass+"'",
		"CREATE DATABASE "+quote(c.Name)+" OWNER "+quote(c.User)+" "+options)
	tb.Cleanup(func() {
		do(tb, conn, "DROP DATABASE "+quote(c.Name)+" WITH (FORCE)", "DROP ROLE "+quote(c.User))
	})
	return c
}

// verify says whether db was opened by the user and on the database of c.
func verify(c driver.Config) func(db *gorm.DB) error {
	return func(db *gorm.DB) error {
		var user, name string
		if err := db.Raw("SELECT current_user, current_database()").Row().Scan(&user,
			&name); err != nil {
			return err
		}
		if user != c.User || name != c.Name {
			return fmt.Errorf("%q on %q, want %q on %q", user, name, c.User, c.Name)
		}
		return nil
	}
}

// version is what the server says it is.
func version(tb testing.TB, conn *pgx.Conn) string {
	tb.Helper()
	text := ask[string](tb, conn, "SHOW server_version") // 15.4 (Debian 15.4-1)
	text, _, _ = strings.Cut(text, " ")
	return "PostgreSQL " + text
}
