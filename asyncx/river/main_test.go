package river_test

import (
	"context"
	"crypto/rand"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"
	"gorm.io/gorm"

	"github.com/plinthgo/plinth/asyncx/job/driver"
	"github.com/plinthgo/plinth/asyncx/river"
	"github.com/plinthgo/plinth/conformance/dbtest"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/major/xdb"
	dbdriver "github.com/plinthgo/plinth/core/major/xdb/driver"
	"github.com/plinthgo/plinth/dbplugins/postgres"
)

// takeOver is the takeover timeout of the tests.
const takeOver = 6 * time.Second

func TestMain(m *testing.M) {
	child()
	flag.Parse()
	// most checks only wait for due times
	if err := flag.Set("test.parallel", "6"); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

// parts splits the DSN of a test server.
func parts(dsn string) dbdriver.Config {
	c, err := pgx.ParseConfig(dsn)
	if err != nil {
		// err would contain the DSN
		panic("cannot parse PLINTH_TEST_POSTGRES_DSN or the DSN of a private server")
	}
	return dbdriver.Config{
		Host: c.Host, Port: int(c.Port), User: c.User, Pass: c.Password, Name: c.Database,
		TLS: dbdriver.TLSDisable,
	}
}

// testServer returns the test server, or skips the test.
func testServer(tb testing.TB) (dbtest.Server, dbdriver.Config) {
	tb.Helper()
	server := dbtest.FindServer(tb, postgres.Name)
	return server, parts(server.DSN)
}

// admin connects with pgx.
func admin(tb testing.TB, c dbdriver.Config) *pgx.Conn {
	tb.Helper()
	dsn, err := postgres.Driver{}.DSN(c)
	if err != nil {
		tb.Fatal(err)
	}
	conn, err := pgx.Connect(tb.Context(), dsn)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = conn.Close(context.WithoutCancel(tb.Context())) })
	return conn
}

// execSQL executes statements.
func execSQL(tb testing.TB, conn *pgx.Conn, statements ...string) {
	tb.Helper()
	for _, s := range statements {
		if _, err := conn.Exec(context.WithoutCancel(tb.Context()), s); err != nil {
			tb.Fatalf("%s: %v", s, err)
		}
	}
}

// queryValue returns the value of a query with one row and one column.
func queryValue[T any](tb testing.TB, conn *pgx.Conn, query string, args ...any) (value T) {
	tb.Helper()
	if err := conn.QueryRow(context.WithoutCancel(tb.Context()), query,
		args...).Scan(&value); err != nil {
		tb.Fatalf("%s: %v", query, err)
	}
	return value
}

// newDatabase creates a database and drops it at the end of the test.
func newDatabase(tb testing.TB, c dbdriver.Config) dbdriver.Config {
	tb.Helper()
	conn := admin(tb, c)
	c.Name = fmt.Sprintf("river%d_%s", os.Getpid(), strings.ToLower(rand.Text()[:8]))
	execSQL(tb, conn, "CREATE DATABASE "+c.Name)
	tb.Cleanup(func() { execSQL(tb, conn, "DROP DATABASE "+c.Name+" WITH (FORCE)") })
	return c
}

// application returns a context with a database, like the context of an application.
func application(tb testing.TB, c dbdriver.Config) (context.Context, *gorm.DB) {
	tb.Helper()
	db, err := xdb.Open(tb.Context(), xdb.Options{Driver: postgres.Name, Parts: c, MaxOpenConns: 6})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := xdb.Close(db); err != nil {
			tb.Error(err)
		}
	})
	return context.WithValue(tb.Context(), xctx.DatabaseKey, db), db
}

// replica opens an engine on a database.
func replica(
	tb testing.TB, c dbdriver.Config, options ...river.Option,
) (driver.Engine, context.Context) {
	tb.Helper()
	ctx, _ := application(tb, c)
	engine, err := river.Open(append([]river.Option{river.WithTakeoverTimeout(takeOver)},
		options...)...)(ctx)
	if err != nil {
		tb.Fatal(err)
	}
	return engine, ctx
}

// newReplica opens an engine on a new database.
func newReplica(tb testing.TB, options ...river.Option) (driver.Engine, context.Context) {
	tb.Helper()
	_, c := testServer(tb)
	return replica(tb, newDatabase(tb, c), options...)
}

// version returns the version of the server.
func version(tb testing.TB, conn *pgx.Conn) string {
	tb.Helper()
	text, _, _ := strings.Cut(queryValue[string](tb, conn, "SHOW server_version"), " ")
	return "PostgreSQL " + text
}
