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

// holds is the variable that makes TestHoldsTheLockUntilItIsKilled one that ends only
// when it is killed.
const holds xenv.EnvKey = "PLINTH_TEST_MYSQL_HOLDS"

func TestHoldsTheLockUntilItIsKilled(t *testing.T) {
	if _, ok := xenv.GetEnv(holds); !ok {
		t.Skip("this is the process that TestTheLockOfAProcessThatDiedIsFree kills")
	}
	db := open(t, logged(t, io.Discard), xdb.Options{Parts: found(t)})
	_ = mysql.Driver{}.Migrate(t.Context(), db, func(*gorm.DB) error {
		_, _ = os.Stdout.WriteString("locked\n")
		select {}
	})
}

// enter migrates, and returns a channel that is closed when it has the lock.
func enter(ctx context.Context, db *gorm.DB) (entered chan struct{}, done chan error) {
	entered, done = make(chan struct{}), make(chan error, 1)
	go func() {
		done <- mysql.Driver{}.Migrate(ctx, db, func(*gorm.DB) error {
			close(entered)
			return nil
		})
	}()
	return entered, done
}

func TestTheLockOfAProcessThatDiedIsFree(t *testing.T) {
	db := open(t, logged(t, io.Discard), xdb.Options{Parts: found(t)})
	holder := exec.CommandContext(t.Context(), os.Args[0],
		"-test.run=^TestHoldsTheLockUntilItIsKilled$")
	holder.Env = append(os.Environ(), string(holds)+"=1")
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
		t.Fatalf("the other process said %q (%v)", line, err)
	}
	entered, done := enter(t.Context(), db)
	select {
	case <-entered:
		t.Fatal("the lock was not held")
	case <-time.After(100 * time.Millisecond):
	}
	if err := holder.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-entered:
	case <-time.After(5 * time.Second):
		t.Error("the lock is not free 5 s after its process died")
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestAnotherDatabaseDoesNotWaitForTheLock(t *testing.T) {
	c := found(t)
	first := open(t, logged(t, io.Discard), xdb.Options{Parts: c})
	other := "plinth_" + rand.Text()[:8]
	server := admin(t, dbtest.FindServer(t, mysql.Name).DSN)
	do(t, server, "CREATE DATABASE "+other)
	t.Cleanup(func() { do(t, server, "DROP DATABASE "+other) })
	c.Name = other
	second := open(t, logged(t, io.Discard), xdb.Options{Parts: c})
	err := mysql.Driver{}.Migrate(t.Context(), first, func(*gorm.DB) error {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		return mysql.Driver{}.Migrate(ctx, second, func(*gorm.DB) error { return nil })
	})
	if err != nil {
		t.Errorf("Migrate = %v", err)
	}
}

func TestTheWaitForTheLockEndsWithItsContext(t *testing.T) {
	db := open(t, logged(t, io.Discard), xdb.Options{Parts: found(t)})
	err := mysql.Driver{}.Migrate(t.Context(), db, func(*gorm.DB) error {
		ctx, cancel := context.WithTimeout(t.Context(), soon)
		defer cancel()
		start := time.Now()
		err := mysql.Driver{}.Migrate(ctx, db, func(*gorm.DB) error { return nil })
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) > soon+15*time.Second {
			t.Errorf("the second = %v after %s, want the context's error at once",
				err, time.Since(start))
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestTheConnectionOfAMigrationIsNotUsedAgain(t *testing.T) {
	db := open(t, logged(t, io.Discard), xdb.Options{Parts: found(t), MaxOpenConns: 1})
	err := mysql.Driver{}.Migrate(t.Context(), db, func(tx *gorm.DB) error {
		return tx.Exec("SET FOREIGN_KEY_CHECKS = 0").Error
	})
	if err != nil {
		t.Fatal(err)
	}
	var on bool
	if err := db.Raw("SELECT @@foreign_key_checks").Scan(&on).Error; err != nil || !on {
		t.Errorf("foreign keys are checked afterwards: %t (%v)", on, err)
	}
}
