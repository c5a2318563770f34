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

// openLeases opens the leases of a database in another process.
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

// TestLeasesOfIDNodes has processes make ids with numbers that the database alone gives
// out.
func TestLeasesOfIDNodes(t *testing.T) {
	owner, config, _ := newDatabase(t)
	dsn, err := mysql.Driver{}.DSN(config)
	if err != nil {
		t.Fatal(err)
	}
	source := dbtest.FindServer(t, mysql.Name).Source
	leasetest.Nodes(t, leasetest.NodesHarness{
		Address: dsn, Source: source,
		Server: version(t, owner),
	})
}

// TestLeases runs the definition of leases.
func TestLeases(t *testing.T) {
	owner, config, _ := newDatabase(t)
	db := open(t, logged(t, io.Discard), xdb.Options{Parts: config})
	leasetest.Run(t, leasetest.Harness{
		Open: func(tb testing.TB) leasedriver.Backend {
			tb.Helper()
			leases, err := xdb.Leases(open(tb, logged(tb, io.Discard),
				xdb.Options{Parts: config, MaxOpenConns: 3}))
			if err != nil {
				tb.Fatal(err)
			}
			return leases.Backend()
		},
		Forget: func(tb testing.TB, name string) {
			tb.Helper()
			if err := db.Exec("DELETE FROM own_plinth_leases WHERE name = ?",
				name).Error; err != nil {
				tb.Error(err)
			}
		},
		Source: dbtest.FindServer(t, mysql.Name).Source, Server: version(t, owner),
	})
}

func TestClockIsThatOfTheWorldInEveryZone(t *testing.T) {
	dsn := dbtest.FindServer(t, mysql.Name).DSN
	for _, zone := range []string{"'%2B00:00'", "'%2B05:45'", "'-03:30'", "'%2B13:00'"} {
		t.Run(zone, func(t *testing.T) {
			db := open(t, logged(t, io.Discard),
				xdb.Options{DSN: xlog.Secret(dsn + "?time_zone=" + zone)})
			var session string
			var now int64
			err := db.Raw("SELECT @@time_zone, "+mysql.Driver{}.NowMicros()).Row().Scan(&session,
				&now)
			if err != nil {
				t.Fatal(err)
			}
			if off := time.Since(time.UnixMicro(now)).Abs(); off > 5*time.Second {
				t.Errorf("in the zone %s the clock is %s away", session, off)
			}
		})
	}
}

// newDatabase makes a database, and a user who may do nothing but use its tables.
func newDatabase(tb testing.TB) (owner *sql.DB, all, plain driver.Config) {
	tb.Helper()
	dsn := dbtest.FindServer(tb, mysql.Name).DSN
	owner = admin(tb, dsn)
	all = parts(tb, dsn)
	all.Name = "plinth_lease_" + strings.ToLower(rand.Text()[:8])
	plain = all
	plain.User, plain.Pass = all.Name, "secret-plain"
	grantee := quoted(plain.User) + "@'%'"
	do(tb, owner, "CREATE DATABASE "+all.Name,
		"CREATE USER "+grantee+" IDENTIFIED BY 'secret-plain'",
		"GRANT SELECT, INSERT, UPDATE, DELETE ON "+all.Name+".* TO "+grantee)
	tb.Cleanup(func() { do(tb, owner, "DROP USER "+grantee, "DROP DATABASE "+all.Name) })
	return owner, all, plain
}

func TestLeasesNeedNoRightToCreateWhereTheTableIsThere(t *testing.T) {
	owner, all, plain := newDatabase(t)
	db := open(t, logged(t, io.Discard), xdb.Options{Parts: plain})
	err := prepare(t, db)
	if err == nil || driver.KindOf(err) != driver.Authentication ||
		!strings.Contains(err.Error(), "own_plinth_leases") {
		t.Fatalf("leases without a table and without the right to create it: %v", err)
	}
	statement := strings.Replace(statementIn(t, err), "`own_plinth_leases`",
		all.Name+".own_plinth_leases", 1)
	do(t, owner, statement)
	if err := prepare(t, db); err != nil {
		t.Fatalf("leases with a table of an operator's: %v", err)
	}
	do(t, owner, "ALTER TABLE "+all.Name+".own_plinth_leases DROP COLUMN since_us")
	again := open(t, logged(t, io.Discard), xdb.Options{Parts: plain})
	if err := prepare(t, again); err == nil ||
		!strings.Contains(statementIn(t, err), "`since_us` bigint") {
		t.Errorf("leases with a table that lacks a column: %v", err)
	}
}

// prepare sets up the leases of db.
func prepare(tb testing.TB, db *gorm.DB) error {
	tb.Helper()
	leases, err := xdb.Leases(db)
	if err != nil {
		tb.Fatal(err)
	}
	return leases.Prepare(tb.Context())
}

// statementIn is the statement that an error says.
func statementIn(tb testing.TB, err error) string {
	tb.Helper()
	_, text, found := strings.Cut(err.Error(), " with CREATE TABLE ")
	if !found {
		tb.Fatalf("no statement in %v", err)
	}
	statement, _, _ := strings.Cut(text, ";")
	return "CREATE TABLE " + statement
}

func TestARenewalWhoseSessionIsKilledLosesNothing(t *testing.T) {
	owner, all, _ := newDatabase(t)
	db := open(t, logged(t, io.Discard), xdb.Options{Parts: all})
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
	lock := "SELECT mark FROM " + all.Name + ".own_plinth_leases WHERE name = 'job' FOR UPDATE"
	var mark int64
	if err := blocker.QueryRowContext(t.Context(), lock).Scan(&mark); err != nil {
		t.Fatal(err)
	}
	within(t, 3*time.Second, "a renewal that was killed", func() bool {
		var id int64
		err := owner.QueryRowContext(t.Context(),
			"SELECT id FROM information_schema.processlist WHERE db = ? AND info LIKE 'UPDATE%'",
			all.Name).Scan(&id)
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
	within(t, 4*time.Second, "another renewal", func() bool { return l.Until().After(before) })
	if err := l.Release(t.Context()); err != nil {
		t.Error(err)
	}
}

// within waits until a condition holds.
func within(tb testing.TB, d time.Duration, what string, holds func() bool) {
	tb.Helper()
	late := time.After(d)
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	for !holds() {
		select {
		case <-again.C:
		case <-late:
			tb.Fatalf("not within %s: %s", d, what)
		}
	}
}

// TestLeasesAreExclusiveAtEveryIsolation lets processes of which the server gives some up
// race for few slots.
func TestLeasesAreExclusiveAtEveryIsolation(t *testing.T) {
	dsn := dbtest.FindServer(t, mysql.Name).DSN
	for _, level := range []string{"READ-COMMITTED", "REPEATABLE-READ", "SERIALIZABLE"} {
		t.Run(level, func(t *testing.T) {
			owner := admin(t, dsn)
			variable := "tx_isolation" // of MariaDB
			if strings.HasPrefix(version(t, owner), "MySQL") {
				variable = "transaction_isolation"
			}
			db := open(t, logged(t, io.Discard),
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
			b := leases.Backend()
			dbtest.RaceForLeases(t, b)
		})
	}
}

// dropLeases drops the table of leases at the end of the test.
func dropLeases(tb testing.TB, db *gorm.DB) {
	tb.Helper()
	tb.Cleanup(func() {
		if err := db.WithContext(context.WithoutCancel(tb.Context())).Exec(
			"DROP TABLE own_plinth_leases").Error; err != nil {
			tb.Error(err)
		}
	})
}
