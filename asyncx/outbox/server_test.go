package outbox_test

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/url"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"gorm.io/gorm"

	jobdriver "github.com/plinthgo/plinth/asyncx/job/driver"
	"github.com/plinthgo/plinth/asyncx/job/jobtest"
	"github.com/plinthgo/plinth/asyncx/outbox"
	"github.com/plinthgo/plinth/conformance/dbtest"
	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
	"github.com/plinthgo/plinth/dbplugins/mysql"
	"github.com/plinthgo/plinth/dbplugins/postgres"
	"github.com/plinthgo/plinth/dbplugins/sqlite"
)

// testDatabase is the database of one test.
type testDatabase struct {
	driver          string
	parts           driver.Config
	source, version string
}

// drivers are the drivers of the test databases.
var drivers = map[string]driver.Driver{
	sqlite.Name:   sqlite.Driver{},
	postgres.Name: postgres.Driver{},
	mysql.Name:    mysql.Driver{},
}

// options returns the options to open the database.
func (p testDatabase) options() xdb.Options { return xdb.Options{Driver: p.driver, Parts: p.parts} }

// quiet returns a context whose log is discarded.
func quiet(tb testing.TB) context.Context {
	tb.Helper()
	engine, err := xlog.New(xlog.Config{Level: slog.LevelError, Writer: io.Discard})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = engine.Close() })
	return xlog.NewContext(context.WithoutCancel(tb.Context()), engine)
}

// open opens a database and closes it at the end of the test.
func open(tb testing.TB, o xdb.Options) *gorm.DB {
	tb.Helper()
	db, err := xdb.Open(quiet(tb), o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := xdb.Close(db); err != nil {
			tb.Error(err)
		}
	})
	return db
}

// within returns a context with the database.
func within(tb testing.TB, db *gorm.DB) context.Context {
	tb.Helper()
	return context.WithValue(quiet(tb), xctx.DatabaseKey, db)
}

// engine opens an engine and closes it at the end of the test.
func engine(
	tb testing.TB, db *gorm.DB, options ...outbox.Option,
) (context.Context, jobdriver.Engine) {
	tb.Helper()
	ctx := within(tb, db)
	e, err := outbox.Open(options...)(ctx)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := e.Close(); err != nil {
			tb.Error(err)
		}
	})
	return ctx, e
}

// onFile returns a database in a file.
func onFile(tb testing.TB) testDatabase {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "jobs.db")
	return testDatabase{
		driver: sqlite.Name, parts: driver.Config{Source: xenv.Map{"DATABASE_PATH": path}},
		source: "file",
	}
}

// onPostgres returns a database on the test server, or skips the test.
func onPostgres(tb testing.TB) testDatabase {
	tb.Helper()
	server := dbtest.FindServer(tb, postgres.Name)
	u, err := url.Parse(server.DSN)
	if err != nil || u.Host == "" {
		tb.Fatal("PLINTH_TEST_POSTGRES_DSN is not a URL") // err would contain the DSN
	}
	port, _ := strconv.Atoi(u.Port())
	pass, _ := u.User.Password()
	return onServer(tb, server, postgres.Name, driver.Config{
		Host: u.Hostname(), Port: port, User: u.User.Username(), Pass: pass,
		Name: strings.TrimPrefix(u.Path, "/"), TLS: driver.TLSDisable,
	}, "SHOW server_version")
}

var mysqlDSN = regexp.MustCompile(`^(.*?):(.*)@tcp\((.*?)\)/([^?]*)`)

// onMySQL returns a database on the test server, or skips the test.
func onMySQL(tb testing.TB) testDatabase {
	tb.Helper()
	server := dbtest.FindServer(tb, mysql.Name)
	m := mysqlDSN.FindStringSubmatch(server.DSN)
	if m == nil {
		tb.Fatal("PLINTH_TEST_MYSQL_DSN has an unknown format")
	}
	host, text, err := net.SplitHostPort(m[3])
	if err != nil {
		tb.Fatal(err)
	}
	port, _ := strconv.Atoi(text)
	return onServer(tb, server, mysql.Name, driver.Config{
		Host: host, Port: port, User: m[1], Pass: m[2], Name: m[4], TLS: driver.TLSDisable,
	}, "SELECT VERSION()")
}

// onServer creates a database for the test. version is the query of the server version.
func onServer(
	tb testing.TB, server dbtest.Server, name string, parts driver.Config, version string,
) testDatabase {
	tb.Helper()
	p := testDatabase{driver: name, parts: parts, source: server.Source}
	admin := open(tb, p.options())
	if err := admin.Raw(version).Row().Scan(&p.version); err != nil {
		tb.Fatal(err)
	}
	p.parts.Name = "plinth_jobs_" + strings.ToLower(rand.Text()[:10])
	if err := admin.Exec("CREATE DATABASE " + p.parts.Name).Error; err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		drop := "DROP DATABASE " + p.parts.Name
		if name == postgres.Name {
			drop += " WITH (FORCE)"
		}
		if err := admin.Exec(drop).Error; err != nil {
			tb.Error(err)
		}
	})
	return p
}

var errDisconnected = errors.New("disconnected by the test")

// disconnector makes every statement fail while down is set, as if the server were
// unreachable.
type disconnector struct{ down atomic.Bool }

// Name implements gorm.Plugin.
func (*disconnector) Name() string { return "test:cut" }

// Initialize implements gorm.Plugin.
func (c *disconnector) Initialize(db *gorm.DB) error {
	before := func(tx *gorm.DB) {
		if c.down.Load() {
			err := driver.Translate(driver.Connection, errDisconnected, errDisconnected.Error())
			_ = tx.AddError(err)
		}
	}
	cb := db.Callback()
	return errors.Join(
		cb.Create().Before("*").Register(c.Name(), before),
		cb.Query().Before("*").Register(c.Name(), before),
		cb.Update().Before("*").Register(c.Name(), before),
		cb.Delete().Before("*").Register(c.Name(), before),
		cb.Row().Before("*").Register(c.Name(), before),
		cb.Raw().Before("*").Register(c.Name(), before),
	)
}

// replica opens another replica on the database.
func (p testDatabase) replica(tb testing.TB, options ...outbox.Option) jobtest.Replica {
	tb.Helper()
	db := open(tb, p.options())
	c := &disconnector{}
	if err := db.Use(c); err != nil {
		tb.Fatal(err)
	}
	ctx, e := engine(tb, db, options...)
	return jobtest.Replica{
		Engine: e, Context: ctx,
		Disconnect: func(testing.TB) { c.down.Store(true) },
		Reconnect:  func(testing.TB) { c.down.Store(false) },
	}
}
