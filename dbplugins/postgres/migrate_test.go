package postgres_test

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
	"github.com/plinthgo/plinth/core/major/xdb/migrate"
	"github.com/plinthgo/plinth/dbplugins/postgres"
)

const (
	// lockKey must not change: replicas with different releases of Plinth share the lock.
	lockKey int64 = 0x706c696e7468

	// lockDSN makes the test process hold the migration lock of the database at this
	// DSN.
	lockDSN xenv.EnvKey = "PLINTH_TEST_LOCK_DSN"

	concurrently = "-- plinth:no-transaction\nCREATE INDEX CONCURRENTLY ${prefix}things_name ON ${prefix}things (name);"
	things       = "CREATE TABLE ${prefix}things (name TEXT NOT NULL);"
)

// privateDatabase returns a new database, whose lock no other test uses.
func privateDatabase(t *testing.T) driver.Config {
	t.Helper()
	server, _ := find(t)
	return newDatabase(t, server, "", "")
}

// locks returns the number of sessions that hold the lock, and how many hold it for a
// transaction.
func locks(t *testing.T, db *gorm.DB) (held, byTransactions int) {
	t.Helper()
	const query = `SELECT count(*), count(*) FILTER (WHERE a.xact_start IS NOT NULL) FROM pg_locks AS l JOIN pg_stat_activity AS a USING (pid)
		WHERE l.locktype = 'advisory' AND l.granted AND (l.classid::bigint << 32 | l.objid::bigint) = ?
		AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())`
	if err := db.Raw(query, lockKey).Row().Scan(&held, &byTransactions); err != nil {
		t.Fatal(err)
	}
	return held, byTransactions
}

// withLock calls run with the migration lock.
func withLock(ctx context.Context, db *gorm.DB, run func(tx *gorm.DB) error) error {
	return postgres.Driver{}.Migrate(ctx, db, run)
}

func TestDriver_Migrate(t *testing.T) {
	t.Run("holds a session lock and releases it", func(t *testing.T) {
		db := open(t, xdb.Options{Parts: privateDatabase(t)})
		boom := errors.New("boom")
		err := withLock(t.Context(), db, func(tx *gorm.DB) error {
			if held, byTransactions := locks(t, db); held != 1 || byTransactions != 0 {
				t.Errorf("locks = %d, of transactions = %d; want 1 and 0", held, byTransactions)
			}
			if err := tx.Exec("SET search_path TO nowhere").Error; err != nil {
				t.Error(err)
			}
			return boom
		})
		if !errors.Is(err, boom) {
			t.Errorf("Migrate = %v, want the function's error", err)
		}
		var path string
		if err := db.Raw("SHOW search_path").Scan(&path).Error; err != nil || path == "nowhere" {
			t.Errorf("search_path = %q (%v): the connection of a migration must be closed",
				path, err)
		}
		eventually(t, "the lock is free", func() bool { held, _ := locks(t, db); return held == 0 })
	})

	t.Run("releases the lock after a panic", func(t *testing.T) {
		db := open(t, xdb.Options{Parts: privateDatabase(t), MaxOpenConns: 2})
		func() {
			defer func() {
				if recover() == nil {
					t.Error("Migrate recovered the panic")
				}
			}()
			_ = withLock(t.Context(), db, func(*gorm.DB) error { panic("boom") })
		}()
		eventually(t, "the lock is free", func() bool { held, _ := locks(t, db); return held == 0 })
	})

	t.Run("releases the lock when the context is canceled", func(t *testing.T) {
		db := open(t, xdb.Options{Parts: privateDatabase(t)})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		start := time.Now()
		err := withLock(ctx, db, func(tx *gorm.DB) error {
			start = time.Now()
			cancel()
			return tx.Exec(slow).Error
		})
		if !errors.Is(err, context.Canceled) || time.Since(start) > 10*time.Second {
			t.Errorf("Migrate = %v after %s, want context.Canceled within 10 s",
				err, time.Since(start))
		}
		eventually(t, "the lock is free", func() bool { held, _ := locks(t, db); return held == 0 })
	})

	t.Run("stops waiting at the deadline", func(t *testing.T) {
		db := open(t, xdb.Options{Parts: privateDatabase(t)})
		err := withLock(t.Context(), db, func(*gorm.DB) error {
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			start := time.Now()
			err := withLock(ctx, db,
				func(*gorm.DB) error { return errors.New("Migrate ran without the lock") })
			if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) > 10*time.Second {
				t.Errorf("the second Migrate = %v after %s, want context.DeadlineExceeded within 10 s",
					err, time.Since(start))
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
}

func TestDriver_Migrate_KilledProcess(t *testing.T) {
	if dsn, ok := xenv.GetEnv(lockDSN); ok {
		holdLock(t, dsn)
		return
	}
	config := privateDatabase(t)
	dsn, err := postgres.Driver{}.DSN(config)
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.CommandContext(t.Context(), self, "-test.run=^"+t.Name()+"$")
	child.Env = append(os.Environ(), string(lockDSN)+"="+dsn)
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(out); lines.Scan() && lines.Text() != "locked"; {
		continue
	}
	db := open(t, xdb.Options{Parts: config})
	held, _ := locks(t, db)
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if held != 1 {
		t.Errorf("locks of the child process = %d, want 1", held)
	}
	start := time.Now()
	if err := withLock(t.Context(), db, func(*gorm.DB) error { return nil }); err != nil ||
		time.Since(start) > 15*time.Second {
		t.Errorf("Migrate = %v after %s, want nil within 15 s", err, time.Since(start))
	}
	if err := child.Wait(); err == nil {
		t.Error("the child process exited before it was killed")
	}
}

// holdLock prints "locked" when it has the lock, and holds the lock until it is killed.
func holdLock(t *testing.T, dsn string) {
	t.Helper()
	db := open(t, xdb.Options{DSN: xlog.Secret(dsn)})
	if err := withLock(t.Context(), db, func(*gorm.DB) error {
		_, err := os.Stdout.WriteString("locked\n")
		<-t.Context().Done()
		return err
	}); err != nil {
		t.Error(err)
	}
}

// TestDriver_Migrate_ConcurrentIndex would deadlock if a replica waited for the lock
// within a statement.
func TestDriver_Migrate_ConcurrentIndex(t *testing.T) {
	config := privateDatabase(t)
	db := open(t, xdb.Options{Parts: config})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	replica := make(chan error, 1)
	err := withLock(ctx, db, func(tx *gorm.DB) error {
		if err := tx.Exec("CREATE TABLE things (name TEXT)").Error; err != nil {
			return err
		}
		go func() { replica <- withLock(ctx, db, func(*gorm.DB) error { return nil }) }()
		eventually(t, "the replica requests the lock", func() bool {
			var n int64
			err := db.Raw("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE '%advisory_lock%' " +
				"AND pid <> pg_backend_pid()").Scan(&n).Error
			return err == nil && n == 1 // the other process runs another statement
		})
		return tx.Exec("CREATE INDEX CONCURRENTLY things_name ON things (name)").Error
	})
	if err := errors.Join(err, <-replica); err != nil {
		t.Error(err)
	}
}

func TestDriver_Migrate_Pooler(t *testing.T) {
	config := pooled(t, privateDatabase(t))
	db := open(t, xdb.Options{Parts: config})
	err := withLock(t.Context(), db, func(tx *gorm.DB) error {
		if held, byTransactions := locks(t, db); held != 1 || byTransactions != 1 {
			t.Errorf("locks = %d, of transactions = %d; want 1 and 1", held, byTransactions)
		}
		if _, ok := tx.Statement.ConnPool.(gorm.TxCommitter); !ok {
			t.Errorf("connection = %T, want a transaction", tx.Statement.ConnPool)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		err := withLock(ctx, db,
			func(*gorm.DB) error { return errors.New("Migrate ran without the lock") })
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the second Migrate = %v, want context.DeadlineExceeded", err)
		}
		return tx.Exec("CREATE TABLE committed ()").Error
	})
	if err != nil || !db.Migrator().HasTable("committed") {
		t.Errorf("Migrate = %v, table = %t", err, db.Migrator().HasTable("committed"))
	}
	boom := errors.New("boom")
	err = withLock(t.Context(), db, func(tx *gorm.DB) error {
		return errors.Join(tx.Exec("CREATE TABLE rolled_back ()").Error, boom)
	})
	if !errors.Is(err, boom) || db.Migrator().HasTable("rolled_back") {
		t.Errorf("Migrate = %v, want the function's error and no table", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	err = withLock(ctx, db, func(tx *gorm.DB) error {
		cancel()
		return tx.Exec(slow).Error
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Migrate = %v, want context.Canceled", err)
	}
	eventually(t, "the lock is free", func() bool { held, _ := locks(t, db); return held == 0 })
}

func TestApply_Pooler(t *testing.T) {
	config := pooled(t, privateDatabase(t))
	files := fstest.MapFS{"0001_things.sql": {Data: []byte(things)}}
	db := open(t, xdb.Options{Parts: config})
	if err := migrate.Apply(t.Context(), db, files); err != nil {
		t.Error(err)
	}
	files["0002_index.sql"] = &fstest.MapFile{Data: []byte(concurrently)}
	err := migrate.Apply(t.Context(), db, files)
	if err == nil || !strings.Contains(err.Error(), "the lock of postgres is a transaction") {
		t.Errorf("Apply = %v, want an error that explains why the file cannot run", err)
	}
}

func TestApply_ConcurrentIndex(t *testing.T) {
	db := open(t, xdb.Options{Parts: privateDatabase(t)})
	files := fstest.MapFS{
		"0001_things.sql": {Data: []byte(things)},
		"0002_index.sql":  {Data: []byte(concurrently)},
	}
	if err := migrate.Apply(t.Context(), db, files); err != nil ||
		!db.Migrator().HasIndex("things", "things_name") {
		t.Errorf("Apply = %v, index = %t", err, db.Migrator().HasIndex("things", "things_name"))
	}
}
