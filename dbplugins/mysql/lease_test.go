package mysql_test

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/conformance/dbtest"
	"github.com/plinthgo/plinth/conformance/leasetest"
	leasedriver "github.com/plinthgo/plinth/core/common/xlease/driver"
	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
	"github.com/plinthgo/plinth/dbplugins/mysql"
)

// openLeases opens the leases of a database in a child process.
func openLeases(dsn string) (b leasedriver.Backend, done func(), err error) {
	db, err := xdb.Open(context.Background(),
		xdb.Options{Driver: mysql.Name, DSN: xlog.Secret(dsn), MaxOpenConns: 2})
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
	owner, config, _ := newDatabase(t)
	dsn, err := mysql.Driver{}.DSN(config)
	if err != nil {
		t.Fatal(err)
	}
	source := dbtest.FindServer(t, mysql.Name).Source
	leasetest.Nodes(t, leasetest.NodesHarness{
		Address: dsn, Source: source, Server: version(t, owner),
	})
}

func TestLeases(t *testing.T) {
	owner, config, _ := newDatabase(t)
	db := open(t, logContext(t, io.Discard), xdb.Options{Parts: config})
	leasetest.Run(t, leasetest.Harness{
		Open: func(tb testing.TB) leasedriver.Backend {
			tb.Helper()
			leases, err := xdb.Leases(open(tb, logContext(tb, io.Discard),
				xdb.Options{Parts: config, MaxOpenConns: 3}))
			if err != nil {
				tb.Fatal(err)
			}
			return leases.Backend()
		},
		Forget: func(tb testing.TB, name string) {
			tb.Helper()
			const statement = "DELETE FROM own_plinth_leases WHERE name = ?"
			if err := db.Exec(statement, name).Error; err != nil {
				tb.Error(err)
			}
		},
		Source: dbtest.FindServer(t, mysql.Name).Source, Server: version(t, owner),
	})
}

func TestDriver_NowMicros(t *testing.T) {
	dsn := dbtest.FindServer(t, mysql.Name).DSN
	for _, zone := range []string{"'%2B00:00'", "'%2B05:45'", "'-03:30'", "'%2B13:00'"} {
		t.Run(zone, func(t *testing.T) {
			db := open(t, logContext(t, io.Discard),
				xdb.Options{DSN: xlog.Secret(dsn + "?time_zone=" + zone)})
			var session string
			var now int64
			row := db.Raw("SELECT @@time_zone, " + mysql.Driver{}.NowMicros()).Row()
			if err := row.Scan(&session, &now); err != nil {
				t.Fatal(err)
			}
			if off := time.Since(time.UnixMicro(now)).Abs(); off > 5*time.Second {
				t.Errorf("in time zone %s the clock is off by %s", session, off)
			}
		})
	}
}

// newDatabase creates a database, and a user that can only read and write its tables. It
// returns a pool of the administrator, and the configurations of the administrator (full)
// and of the user (limited).
func newDatabase(tb testing.TB) (owner *sql.DB, full, limited driver.Config) {
	tb.Helper()
	dsn := dbtest.FindServer(tb, mysql.Name).DSN
	owner = admin(tb, dsn)
	full = configOf(tb, dsn)
	full.Name = "plinth_lease_" + strings.ToLower(rand.Text()[:8])
	limited = full
	limited.User, limited.Pass = full.Name, "secret-plain"
	grantee := quoted(limited.User) + "@'%'"
	execAll(tb, owner, "CREATE DATABASE "+full.Name,
		"CREATE USER "+grantee+" IDENTIFIED BY 'secret-plain'",
		"GRANT SELECT, INSERT, UPDATE, DELETE ON "+full.Name+".* TO "+grantee)
	tb.Cleanup(func() { execAll(tb, owner, "DROP USER "+grantee, "DROP DATABASE "+full.Name) })
	return owner, full, limited
}

func TestLeases_Prepare(t *testing.T) {
	owner, full, limited := newDatabase(t)
	db := open(t, logContext(t, io.Discard), xdb.Options{Parts: limited})
	err := prepare(t, db)
	if err == nil || driver.KindOf(err) != driver.Authentication ||
		!strings.Contains(err.Error(), "own_plinth_leases") {
		t.Fatalf("Prepare without a table and without CREATE privilege = %v", err)
	}
	statement := strings.Replace(statementIn(t, err), "`own_plinth_leases`",
		full.Name+".own_plinth_leases", 1)
	execAll(t, owner, statement)
	if err := prepare(t, db); err != nil {
		t.Fatalf("Prepare with a table created by the operator = %v", err)
	}
	execAll(t, owner, "ALTER TABLE "+full.Name+".own_plinth_leases DROP COLUMN since_us")
	reopened := open(t, logContext(t, io.Discard), xdb.Options{Parts: limited})
	if err := prepare(t, reopened); err == nil ||
		!strings.Contains(statementIn(t, err), "`since_us` bigint") {
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
	owner, full, _ := newDatabase(t)
	db := open(t, logContext(t, io.Discard), xdb.Options{Parts: full})
	leases, err := xdb.Leases(db)
	if err != nil {
		t.Fatal(err)
	}
	l, err := leases.Lease(t.Context(), "job", 6*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	before := l.Until()
	blocker, err := owner.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = blocker.Rollback() }()
	lock := "SELECT mark FROM " + full.Name + ".own_plinth_leases WHERE name = 'job' FOR UPDATE"
	var mark int64
	if err := blocker.QueryRowContext(t.Context(), lock).Scan(&mark); err != nil {
		t.Fatal(err)
	}
	within(t, 3*time.Second, "the session of a renewal is killed", func() bool {
		var id int64
		err := owner.QueryRowContext(t.Context(),
			"SELECT id FROM information_schema.processlist WHERE db = ? AND info LIKE 'UPDATE%'",
			full.Name).Scan(&id)
		if errors.Is(err, sql.ErrNoRows) {
			return false
		}
		if err != nil {
			t.Fatal(err)
		}
		_, err = owner.ExecContext(t.Context(), fmt.Sprint("KILL ", id))
		return err == nil
	})
	if err := blocker.Rollback(); err != nil {
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

// TestLeases_Isolation races processes for few slots; the server aborts some of their
// transactions.
func TestLeases_Isolation(t *testing.T) {
	dsn := dbtest.FindServer(t, mysql.Name).DSN
	for _, level := range []string{"READ-COMMITTED", "REPEATABLE-READ", "SERIALIZABLE"} {
		t.Run(level, func(t *testing.T) {
			owner := admin(t, dsn)
			variable := "tx_isolation" // the name in MariaDB
			if strings.HasPrefix(version(t, owner), "MySQL") {
				variable = "transaction_isolation"
			}
			db := open(t, logContext(t, io.Discard),
				xdb.Options{DSN: xlog.Secret(dsn + "?" + variable + "='" + level + "'")})
			dropLeases(t, db)
			var got string
			if err := db.Raw("SELECT @@" + variable).Scan(&got).Error; err != nil || got != level {
				t.Fatalf("isolation = %q, %v", got, err)
			}
			leases, err := xdb.Leases(db)
			if err != nil {
				t.Fatal(err)
			}
			dbtest.RaceForLeases(t, leases.Backend())
		})
	}
}

// dropLeases drops the leases table after the test.
func dropLeases(tb testing.TB, db *gorm.DB) {
	tb.Helper()
	tb.Cleanup(func() {
		ctx := context.WithoutCancel(tb.Context())
		if err := db.WithContext(ctx).Exec("DROP TABLE own_plinth_leases").Error; err != nil {
			tb.Error(err)
		}
	})
}
