package postgres_test

import (
	"context"
	"crypto/rand"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/conformance/dbtest"
	"github.com/plinthgo/plinth/conformance/leasetest"
	"github.com/plinthgo/plinth/core/common/xlease"
	leasedriver "github.com/plinthgo/plinth/core/common/xlease/driver"
	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
	"github.com/plinthgo/plinth/dbplugins/postgres"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == serveArgument {
		serveDatabase()
		return
	}
	leasetest.Child(openLeases)
	os.Exit(m.Run())
}

// openLeases opens the leases of a database in a child process.
func openLeases(dsn string) (b leasedriver.Backend, done func(), err error) {
	db, err := xdb.Open(context.Background(),
		xdb.Options{Driver: postgres.Name, DSN: xlog.Secret(dsn), MaxOpenConns: 2})
	if err != nil {
		return nil, nil, err
	}
	leases, err := xdb.Leases(db)
	if err != nil {
		return nil, nil, errors.Join(err, xdb.Close(db))
	}
	return leases.Backend(), func() { _ = xdb.Close(db) }, nil
}

// TestLeases_Nodes generates IDs in several processes with node IDs from the database.
func TestLeases_Nodes(t *testing.T) {
	server, _ := find(t)
	dsn, err := postgres.Driver{}.DSN(newDatabase(t, server, "", ""))
	if err != nil {
		t.Fatal(err)
	}
	leasetest.Nodes(t, leasetest.NodesHarness{
		Address: dsn, Source: server.Source, Server: version(t, admin(t, server.DSN)),
	})
}

func TestLeases(t *testing.T) {
	server, _ := find(t)
	config := newDatabase(t, server, "", "")
	db := open(t, xdb.Options{Parts: config})
	leasetest.Run(t, leasetest.Harness{
		Open: func(tb testing.TB) leasedriver.Backend {
			tb.Helper()
			leases, err := xdb.Leases(open(tb, xdb.Options{Parts: config, MaxOpenConns: 3}))
			if err != nil {
				tb.Fatal(err)
			}
			return leases.Backend()
		},
		Forget: func(tb testing.TB, name string) {
			tb.Helper()
			if err := db.Exec("DELETE FROM plinth_leases WHERE name = ?", name).Error; err != nil {
				tb.Error(err)
			}
		},
		Source: server.Source, Server: version(t, admin(t, server.DSN)),
	})
}

// clockOffset returns how far the clock of the server is behind the clock of the test.
func clockOffset(tb testing.TB, db *gorm.DB) time.Duration {
	tb.Helper()
	var now int64
	if err := db.Raw("SELECT " + postgres.Driver{}.NowMicros()).Row().Scan(&now); err != nil {
		tb.Fatal(err)
	}
	return time.Since(time.UnixMicro(now))
}

func TestDriver_NowMicros(t *testing.T) {
	t.Run("does not depend on the time zone", func(t *testing.T) {
		_, config := find(t)
		for _, zone := range []string{
			"", "Asia/Kathmandu", "America/St_Johns", "Pacific/Kiritimati",
		} {
			t.Run(zone, func(t *testing.T) {
				config.Source = xenv.Map{"DATABASE_TIMEZONE": zone}
				db := open(t, xdb.Options{Parts: config})
				if off := clockOffset(t, db); off.Abs() > 5*time.Second {
					t.Errorf("the clock is off by %s", off)
				}
			})
		}
	})

	t.Run("advances within a transaction", func(t *testing.T) {
		_, config := find(t)
		err := open(t, xdb.Options{Parts: config}).Transaction(func(tx *gorm.DB) error {
			before := clockOffset(t, tx)
			if err := tx.Exec("SELECT pg_sleep(0.5)").Error; err != nil {
				return err
			}
			if after := clockOffset(t, tx); after-before > 400*time.Millisecond {
				t.Errorf("the clock lost %s in a transaction of 500 ms", after-before)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
}

func TestLeases_Prepare(t *testing.T) {
	server, _ := find(t)
	config := newDatabase(t, server, "", "")
	adminConfig := configOf(server.DSN)
	adminConfig.Name = config.Name
	owner := open(t, xdb.Options{Parts: adminConfig})
	role := "plain" + rand.Text()
	conn := admin(t, server.DSN)
	execAll(t, conn, "CREATE ROLE "+quote(role)+" LOGIN PASSWORD 'secret-plain'")
	t.Cleanup(func() { execAll(t, conn, "DROP ROLE "+quote(role)) })
	for _, s := range []string{"CREATE SCHEMA app", "GRANT USAGE ON SCHEMA app TO " + quote(role)} {
		if err := owner.Exec(s).Error; err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		if err := owner.WithContext(ctx).Exec("DROP OWNED BY " + quote(role)).Error; err != nil {
			t.Error(err)
		}
	})
	config.User, config.Pass = role, "secret-plain"
	db := open(t, xdb.Options{Parts: config, TablePrefix: "app.x_"})
	err := prepare(t, db)
	if err == nil || driver.KindOf(err) != driver.Authentication ||
		!strings.Contains(err.Error(), "app.x_plinth_leases") {
		t.Fatalf("Prepare without a table and without CREATE privilege = %v", err)
	}
	for _, s := range []string{
		statementIn(t, err),
		"GRANT SELECT, INSERT, UPDATE, DELETE ON app.x_plinth_leases TO " + quote(role),
	} {
		if err := owner.Exec(s).Error; err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	leases, err := xdb.Leases(db)
	if err != nil {
		t.Fatal(err)
	}
	if err := leases.Prepare(t.Context()); err != nil {
		t.Fatalf("Prepare with a table created by the operator = %v", err)
	}
	renew := func(ctx context.Context, l *xlease.Lease) error { return l.Renew(ctx) }
	if err := leases.Do(t.Context(), "job", time.Minute, renew); err != nil {
		t.Error(err)
	}
	if err := owner.Exec("ALTER TABLE app.x_plinth_leases DROP COLUMN since_us").Error; err != nil {
		t.Fatal(err)
	}
	reopened := open(t, xdb.Options{Parts: config, TablePrefix: "app.x_"})
	if err := prepare(t, reopened); err == nil ||
		!strings.Contains(statementIn(t, err), `"since_us" bigint`) {
		t.Errorf("Prepare with a table that lacks a column = %v", err)
	}
}

// prepare creates the leases table of db.
func prepare(tb testing.TB, db *gorm.DB) error {
	tb.Helper()
	leases, err := xdb.Leases(db)
	if err != nil {
		tb.Fatal(err)
	}
	return leases.Prepare(tb.Context())
}

// statementIn returns the CREATE TABLE statement in an error.
func statementIn(tb testing.TB, err error) string {
	tb.Helper()
	_, text, found := strings.Cut(err.Error(), " with CREATE TABLE ")
	if !found {
		tb.Fatalf("no statement in %v", err)
	}
	statement, _, _ := strings.Cut(text, ";")
	return "CREATE TABLE " + statement
}

func TestLeases_Renew(t *testing.T) {
	server, _ := find(t)
	config := newDatabase(t, server, "", "")
	adminConfig := configOf(server.DSN)
	adminConfig.Name = config.Name
	db := open(t, xdb.Options{Parts: config})
	leases, err := xdb.Leases(db)
	if err != nil {
		t.Fatal(err)
	}
	l, err := leases.Lease(t.Context(), "job", 6*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	before := l.Until()
	blocker := open(t, xdb.Options{Parts: adminConfig}).Begin()
	if err := blocker.Exec("UPDATE plinth_leases SET mark = mark WHERE name = 'job'").Error; err != nil {
		t.Fatal(err)
	}
	conn := admin(t, server.DSN)
	within(t, 3*time.Second, "the session of a renewal is killed", func() bool {
		return queryValue[int](t, conn, `SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
			WHERE datname = $1 AND query LIKE 'UPDATE%plinth_leases%' AND wait_event_type = 'Lock'`, config.Name) > 0
	})
	if err := blocker.Rollback().Error; err != nil {
		t.Fatal(err)
	}
	within(t, 4*time.Second, "the lease is renewed", func() bool { return l.Until().After(before) })
	if err := l.Release(t.Context()); err != nil {
		t.Error(err)
	}
}

// within waits up to d for a condition.
func within(tb testing.TB, d time.Duration, condition string, isMet func() bool) {
	tb.Helper()
	timeout := time.After(d)
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for !isMet() {
		select {
		case <-ticker.C:
		case <-timeout:
			tb.Fatalf("not within %s: %s", d, condition)
		}
	}
}

// TestLeases_Isolation races processes for few slots; PostgreSQL aborts some of their
// transactions.
func TestLeases_Isolation(t *testing.T) {
	server, _ := find(t)
	for _, level := range []string{"read committed", "repeatable read", "serializable"} {
		t.Run(level, func(t *testing.T) {
			config := newDatabase(t, server, "", "")
			dsn, err := postgres.Driver{}.DSN(config)
			if err != nil {
				t.Fatal(err)
			}
			dsn += "&default_transaction_isolation=" + strings.ReplaceAll(level, " ", "%20")
			db := open(t, xdb.Options{DSN: xlog.Secret(dsn)})
			if got := isolation(t, db); got != level {
				t.Fatalf("isolation = %q", got)
			}
			leases, err := xdb.Leases(db)
			if err != nil {
				t.Fatal(err)
			}
			dbtest.RaceForLeases(t, leases.Backend())
		})
	}
}

func isolation(tb testing.TB, db *gorm.DB) (level string) {
	tb.Helper()
	if err := db.Raw("SHOW transaction_isolation").Scan(&level).Error; err != nil {
		tb.Fatal(err)
	}
	return level
}
