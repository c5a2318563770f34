package mysql_test

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/conformance/dbtest"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/dbplugins/mysql"
)

// lockHolderEnv makes TestDriver_Migrate_LockHolder hold the lock until it is killed.
const lockHolderEnv xenv.EnvKey = "PLINTH_TEST_MYSQL_HOLDS"

func TestDriver_Migrate_LockHolder(t *testing.T) {
	if _, ok := xenv.GetEnv(lockHolderEnv); !ok {
		t.Skip("TestDriver_Migrate runs this test in a child process")
	}
	db := open(t, logContext(t, io.Discard), xdb.Options{Parts: serverConfig(t)})
	_ = mysql.Driver{}.Migrate(t.Context(), db, func(*gorm.DB) error {
		_, _ = os.Stdout.WriteString("locked\n")
		select {}
	})
}

// migrateAsync migrates in a goroutine. It closes started when it has acquired the lock.
func migrateAsync(ctx context.Context, db *gorm.DB) (started chan struct{}, done chan error) {
	started, done = make(chan struct{}), make(chan error, 1)
	go func() {
		done <- mysql.Driver{}.Migrate(ctx, db, func(*gorm.DB) error {
			close(started)
			return nil
		})
	}()
	return started, done
}

func TestDriver_Migrate(t *testing.T) {
	t.Run("releases the lock when the process is killed", func(t *testing.T) {
		db := open(t, logContext(t, io.Discard), xdb.Options{Parts: serverConfig(t)})
		holder := exec.CommandContext(t.Context(), os.Args[0],
			"-test.run=^TestDriver_Migrate_LockHolder$")
		holder.Env = append(os.Environ(), string(lockHolderEnv)+"=1")
		out, err := holder.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := holder.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = holder.Wait() }()
		defer func() { _ = holder.Process.Kill() }()
		if line, err := bufio.NewReader(out).ReadString('\n'); line != "locked\n" {
			t.Fatalf("output of the lock holder = %q (%v)", line, err)
		}
		started, done := migrateAsync(t.Context(), db)
		select {
		case <-started:
			t.Fatal("Migrate acquired a lock that is held")
		case <-time.After(100 * time.Millisecond):
		}
		if err := holder.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		select {
		case <-started:
		case <-time.After(5 * time.Second):
			t.Error("Migrate did not acquire the lock within 5 s after the holder was killed")
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	})

	t.Run("uses one lock per database", func(t *testing.T) {
		c := serverConfig(t)
		first := open(t, logContext(t, io.Discard), xdb.Options{Parts: c})
		other := "plinth_" + rand.Text()[:8]
		server := admin(t, dbtest.FindServer(t, mysql.Name).DSN)
		execAll(t, server, "CREATE DATABASE "+other)
		t.Cleanup(func() { execAll(t, server, "DROP DATABASE "+other) })
		c.Name = other
		second := open(t, logContext(t, io.Discard), xdb.Options{Parts: c})
		err := mysql.Driver{}.Migrate(t.Context(), first, func(*gorm.DB) error {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			return mysql.Driver{}.Migrate(ctx, second, func(*gorm.DB) error { return nil })
		})
		if err != nil {
			t.Errorf("Migrate = %v", err)
		}
	})

	t.Run("stops waiting when the context is canceled", func(t *testing.T) {
		db := open(t, logContext(t, io.Discard), xdb.Options{Parts: serverConfig(t)})
		err := mysql.Driver{}.Migrate(t.Context(), db, func(*gorm.DB) error {
			ctx, cancel := context.WithTimeout(t.Context(), shortTimeout)
			defer cancel()
			start := time.Now()
			err := mysql.Driver{}.Migrate(ctx, db, func(*gorm.DB) error { return nil })
			if !errors.Is(err, context.DeadlineExceeded) ||
				time.Since(start) > shortTimeout+15*time.Second {
				t.Errorf("second Migrate = %v after %s, want context.DeadlineExceeded without delay",
					err, time.Since(start))
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})

	t.Run("closes its connection", func(t *testing.T) {
		db := open(t, logContext(t, io.Discard),
			xdb.Options{Parts: serverConfig(t), MaxOpenConns: 1})
		err := mysql.Driver{}.Migrate(t.Context(), db, func(tx *gorm.DB) error {
			return tx.Exec("SET FOREIGN_KEY_CHECKS = 0").Error
		})
		if err != nil {
			t.Fatal(err)
		}
		var on bool
		if err := db.Raw("SELECT @@foreign_key_checks").Scan(&on).Error; err != nil || !on {
			t.Errorf("foreign_key_checks = %t (%v), want true", on, err)
		}
	})
}
