package mysql_test

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/conformance/dbtest"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
	"github.com/plinthgo/plinth/dbplugins/mysql"
)

const soon = 150 * time.Millisecond

// stock is a row that two want to change.
type stock struct {
	ID     int64 `gorm:"primaryKey;autoIncrement:false"`
	Amount int
}

// eventually waits until a condition holds, at most a second.
func eventually(tb testing.TB, what string, holds func() bool) {
	tb.Helper()
	deadline := time.After(time.Second)
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for !holds() {
		select {
		case <-again.C:
		case <-deadline:
			tb.Fatalf("%s: not within a second", what)
		}
	}
}

// running returns how many connections of the server run a statement like a pattern.
func running(tb testing.TB, db *sql.DB, pattern string) (n int) {
	tb.Helper()
	const query = "SELECT COUNT(*) FROM information_schema.processlist WHERE info LIKE ?"
	if err := db.QueryRowContext(tb.Context(), query, pattern).Scan(&n); err != nil {
		tb.Fatal(err)
	}
	return n
}

// encryptions are the parts in plain text and with TLS.
func encryptions(tb testing.TB) map[string]driver.Config {
	tb.Helper()
	c := found(tb)
	encrypted := c
	encrypted.TLS = driver.TLSRequire
	return map[string]driver.Config{"plain": c, "TLS": encrypted}
}

func TestAStatementThatWasGivenUpEndsOnTheServer(t *testing.T) {
	look := admin(t, dbtest.FindServer(t, mysql.Name).DSN)
	for name, c := range encryptions(t) {
		t.Run(name, func(t *testing.T) {
			db := open(t, logged(t, io.Discard), xdb.Options{Parts: c})
			pool, err := db.DB()
			if err != nil {
				t.Fatal(err)
			}
			for i, way := range []func(ctx context.Context, query string) error{
				func(ctx context.Context, query string) error {
					var n int
					return pool.QueryRowContext(ctx, query).Scan(&n)
				},
				func(ctx context.Context, query string) error {
					_, err := pool.ExecContext(ctx, query)
					return err
				},
				func(ctx context.Context, query string) error {
					stmt, err := pool.PrepareContext(ctx, query)
					if err != nil {
						return err
					}
					defer func() { _ = stmt.Close() }()
					_, err = stmt.ExecContext(ctx)
					return err
				},
			} {
				ctx, cancel := context.WithTimeout(t.Context(), soon)
				start := time.Now()
				err := way(ctx, fmt.Sprintf("SELECT SLEEP(30) /* given up %s %d */", name, i))
				cancel()
				if !errors.Is(err, context.DeadlineExceeded) ||
					time.Since(start) > soon+15*time.Second {
					t.Errorf("way %d = %v after %s, want the context's error at once",
						i, err, time.Since(start))
				}
				eventually(t, "the statement is gone",
					func() bool { return running(t, look, "SELECT SLEEP%given up%") == 0 })
			}
		})
	}
}

func TestAResultThatWasGivenUpEndsOnTheServer(t *testing.T) {
	look := admin(t, dbtest.FindServer(t, mysql.Name).DSN)
	db := open(t, logged(t, io.Discard), xdb.Options{Parts: found(t)})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	// The first row is long enough to be sent before the second one is there.
	const query = "SELECT REPEAT('x', 100000), SLEEP(n) /* one by one */ FROM (SELECT 0 AS n UNION ALL SELECT 30) AS s"
	rows, err := db.WithContext(ctx).Raw(query).Rows()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	if !rows.Next() {
		t.Fatal(rows.Err())
	}
	if n := running(t, look, "SELECT REPEAT%one by one%"); n != 1 {
		t.Fatalf("statements that run = %d, want 1", n)
	}
	cancel()
	eventually(t, "the statement is gone",
		func() bool { return running(t, look, "SELECT REPEAT%one by one%") == 0 })
}

func TestAnUpdateThatWasGivenUpDoesNotHappenLater(t *testing.T) {
	for name, c := range encryptions(t) {
		t.Run(name, func(t *testing.T) {
			// Without gorm's transaction there is nothing that rolls back.
			db := open(t, logged(t, io.Discard),
				xdb.Options{Parts: c, AutoMigrate: []any{&stock{}}, SkipDefaultTransaction: true})
			for id := int64(1); id <= 20; id++ {
				if err := giveUp(t, db, id); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// giveUp lets an update wait for a row until its context ends, and lets go of the row at
// that moment.
func giveUp(tb testing.TB, db *gorm.DB, id int64) error {
	tb.Helper()
	if err := db.Create(&stock{ID: id, Amount: 1}).Error; err != nil {
		return err
	}
	holder := db.Begin()
	defer holder.Rollback()
	if err := holder.Model(&stock{ID: id}).Update("amount", 2).Error; err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(tb.Context(), 30*time.Millisecond)
	defer cancel()
	if err := db.WithContext(ctx).Model(&stock{ID: id}).Update("amount",
		3).Error; !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("the update that had to wait = %w, want the context's error", err)
	}
	if err := holder.Commit().Error; err != nil {
		return err
	}
	var got stock
	if err := db.Where("id = ?", id).Take(&got).Error; err != nil {
		return err
	}
	if got.Amount != 2 {
		return fmt.Errorf("amount = %d, want 2: the update happened after all", got.Amount)
	}
	return nil
}

func TestASocketIsAsGoodAsANetwork(t *testing.T) {
	c := found(t)
	server := admin(t, dbtest.FindServer(t, mysql.Name).DSN)
	if err := server.QueryRowContext(t.Context(), "SELECT @@socket").Scan(&c.Host); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(c.Host); err != nil {
		t.Skip("the server's socket is not on this machine: " + err.Error())
	}
	c.User, c.Pass = "plinth "+rand.Text()[:8], "p"
	grantee := quoted(c.User) + "@'localhost'"
	do(t, server, "CREATE USER "+grantee+" IDENTIFIED BY 'p'", "GRANT ALL ON *.* TO "+grantee)
	t.Cleanup(func() { do(t, server, "DROP USER "+grantee) })
	db := open(t, logged(t, io.Discard),
		xdb.Options{Parts: c, AutoMigrate: []any{&stock{}}, SkipDefaultTransaction: true})
	if err := giveUp(t, db, 1); err != nil {
		t.Error(err)
	}
}

func TestTheEndOfAContextAfterAStatementEndsNothing(t *testing.T) {
	db := open(t, logged(t, io.Discard), xdb.Options{Parts: found(t), MaxOpenConns: 1})
	id := func(ctx context.Context) (n int64) {
		if err := db.WithContext(ctx).Raw("SELECT CONNECTION_ID()").Scan(&n).Error; err != nil {
			t.Fatal(err)
		}
		return n
	}
	ctx, cancel := context.WithCancel(t.Context())
	first := id(ctx)
	cancel()
	if second := id(t.Context()); second != first {
		t.Errorf("connections = %d and %d, want one", first, second)
	}
}

func TestAServerThatIsGoneIsNotWaitedFor(t *testing.T) {
	outage := dbtest.CutOff(t, found(t))
	db := open(t, logged(t, io.Discard), xdb.Options{Parts: outage.Config})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	failed := make(chan error, 1)
	go func() { failed <- db.WithContext(ctx).Exec("SELECT SLEEP(30)").Error }()
	pool := admin(t, dbtest.FindServer(t, mysql.Name).DSN)
	eventually(t, "the statement runs",
		func() bool { return running(t, pool, "SELECT SLEEP(30)") > 0 })
	if err := outage.Stop(); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-failed:
		if got := driver.KindOf(err); got != driver.Connection {
			t.Errorf("error = %v of kind %v, want %v", err, got, driver.Connection)
		}
	case <-time.After(time.Second):
		t.Error("the statement still waits")
	}
	if err := outage.Start(); err != nil {
		t.Fatal(err)
	}
}
