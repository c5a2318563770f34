package xdb_test

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

func TestReplica_Outage(t *testing.T) {
	t.Run("does not fail reads, and uses the replica after it recovered", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, log := logged(t)
			c := &cluster{}
			db := openCluster(ctx, t, c, nil).WithContext(ctx)
			find := func() error { return db.Find(&[]article{}).Error }
			row := func() error { return ignoreNotFound(db.Model(&article{}).Row().Scan(new(int))) }
			read := func(what string, do func() error, wantPrimary, wantReplicas int) {
				t.Helper()
				primary, replicas := c.statements(func() {
					for range 4 {
						if err := do(); err != nil {
							t.Errorf("%s: %v", what, err)
						}
					}
				})
				if primary != wantPrimary || replicas != wantReplicas {
					t.Errorf("%s: reads = %d on the primary and %d on replicas, want %d and %d",
						what, primary, replicas, wantPrimary, wantReplicas)
				}
			}
			c.at(firstDSN).isDown.Store(true)
			read("first replica down", find, 1, 3)
			c.at(secondDSN).isDown.Store(true)
			read("both replicas down", row, 4, 0)
			<-time.After(time.Minute)
			read("both replicas still down", find, 4, 0)
			if err := xdb.CheckHealth(ctx, db); err != nil {
				t.Errorf("health = %v, want nil while replicas are down", err)
			}
			c.at(firstDSN).isDown.Store(false)
			<-time.After(6 * time.Second)
			read("first replica up again", row, 0, 4)
			downs, ups := log.count("replica is down"), log.count("replica is up")
			if downs != 2 || ups != 3 {
				t.Errorf("log lines = %d down and %d up, want 2 and 3:\n%s", downs, ups, log)
			}
			c.at(primaryDSN).isDown.Store(true)
			if err := xdb.CheckHealth(ctx, db); err == nil {
				t.Error("CheckHealth = nil while the primary is down")
			}
		})
	})

	t.Run("supports concurrent reads", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c := &cluster{}
			db := openCluster(t.Context(), t, c, nil)
			var readers sync.WaitGroup
			for range 8 {
				readers.Go(func() {
					for range 50 {
						if err := db.Find(&[]article{}).Error; err != nil {
							t.Error(err)
						}
						<-time.After(300 * time.Millisecond)
					}
				})
			}
			for i := range 10 {
				c.at(firstDSN).isDown.Store(i%2 == 0)
				c.at(secondDSN).isDown.Store(i%3 == 0)
				<-time.After(1700 * time.Millisecond)
			}
			readers.Wait()
			n := c.at(primaryDSN).statements.Load() + c.at(firstDSN).statements.Load() +
				c.at(secondDSN).statements.Load()
			if n != 400 {
				t.Errorf("statements = %d, want 400", n)
			}
		})
	})

	t.Run("detects an unresponsive replica without a read", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, log := logged(t)
			c := &cluster{}
			db := openCluster(ctx, t, c, nil).WithContext(ctx)
			c.at(firstDSN).hangs.Store(true)
			<-time.After(9 * time.Second)
			if n := log.count("replica is down"); n != 1 {
				t.Errorf("log lines = %d, want 1:\n%s", n, log)
			}
			for range 4 {
				if err := db.Find(&[]article{}).Error; err != nil {
					t.Error(err)
				}
			}
			if n := c.at(firstDSN).statements.Load(); n != 0 {
				t.Errorf("reads on the unresponsive replica = %d, want 0", n)
			}
		})
	})
}

func TestReplica_SaturatedPool(t *testing.T) {
	t.Run("does not mark the replica as down", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, log := logged(t)
			c := &cluster{}
			db := openCluster(ctx, t, c,
				func(o *xdb.Options) { o.MaxOpenConns = 1 }).WithContext(ctx)
			for range 2 {
				r, err := db.Raw("SELECT 1").Rows()
				if err != nil || r.Err() != nil {
					t.Fatal(err)
				}
				defer func() { _ = r.Close() }()
			}
			<-time.After(time.Minute)
			if n := log.count("replica is down"); n != 0 {
				t.Errorf("log lines = %d, want 0:\n%s", n, log)
			}
			short, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			err := db.WithContext(short).Find(&[]article{}).Error
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("error of a second read = %v, want DeadlineExceeded", err)
			}
		})
	})

	t.Run("detects an unresponsive replica", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, log := logged(t)
			c := &cluster{}
			db := openCluster(ctx, t, c,
				func(o *xdb.Options) { o.MaxOpenConns = 1 }).WithContext(ctx)
			for range 2 {
				r, err := db.Raw("SELECT 1").Rows()
				if err != nil || r.Err() != nil {
					t.Fatal(err)
				}
				defer func() { _ = r.Close() }()
			}
			c.at(firstDSN).hangs.Store(true)
			<-time.After(9 * time.Second)
			if n := log.count("replica is down"); n != 1 {
				t.Errorf("log lines = %d, want 1:\n%s", n, log)
			}
			before := runtime.NumGoroutine()
			<-time.After(10 * time.Minute)
			synctest.Wait()
			if n := c.at(firstDSN).openConnections(); n > 2 {
				t.Errorf("open connections = %d, want at most 2: a read and a check", n)
			}
			if n := runtime.NumGoroutine() - before; n > 5 {
				t.Errorf("%d additional goroutines after ten minutes", n)
			}
			c.at(firstDSN).hangs.Store(false)
			<-time.After(9 * time.Second)
			if n := log.count("replica is up"); n != 3 {
				t.Errorf("log lines = %d, want 3:\n%s", n, log)
			}
		})
	})
}

func TestOpen_Replicas(t *testing.T) {
	t.Run("does not wait for replicas", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, log := logged(t)
			c := &cluster{}
			c.at(firstDSN).isDown.Store(true)
			c.at(secondDSN).connect = func(ctx context.Context, _ int) error {
				<-ctx.Done()
				return ctx.Err()
			}
			start := time.Now()
			db := openCluster(ctx, t, c, nil).WithContext(ctx)
			if elapsed := time.Since(start); elapsed > 5*time.Second {
				t.Errorf("Open took %s, want at most 5 s", elapsed)
			}
			if n := log.count("replica is down"); n != 2 {
				t.Errorf("log lines = %d, want 2:\n%s", n, log)
			}
			primary, _ := c.statements(func() { _ = db.Find(&[]article{}) })
			c.at(firstDSN).isDown.Store(false)
			<-time.After(6 * time.Second)
			_, replicas := c.statements(func() { _ = db.Find(&[]article{}) })
			if primary != 1 || replicas != 1 {
				t.Errorf("reads = %d on the primary and then %d on the replica, want 1 and 1",
					primary, replicas)
			}
		})
	})

	t.Run("fails for a permanent error", func(t *testing.T) {
		denied := errors.New("28P01 for hunter2secret")
		for _, tc := range []struct {
			name string
			err  error
			want string
		}{
			{
				name: "a DSN that cannot be parsed",
				err:  errors.New("cannot parse " + secondDSN + " hunter2secret"),
				want: "cannot parse ***",
			},
			{
				name: "a wrong password",
				err:  driver.Translate(driver.Authentication, denied, denied.Error()),
				want: "access denied: 28P01 for ***",
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				ignore := goleak.IgnoreCurrent()
				c := &cluster{}
				c.at(secondDSN).connect = func(context.Context, int) error { return tc.err }
				o := xdb.Options{
					Driver: "fake", DSN: primaryDSN, Replicas: []xlog.Secret{firstDSN, secondDSN},
					Parts: driver.Config{Pass: "hunter2secret"},
				}
				db, err := registryOf(c).Open(t.Context(), o)
				want := "xdb: replica 2: open fake second/app: " + tc.want
				if db != nil || err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("error = %v, want the error of the replica without secrets", err)
				}
				if err != nil && strings.Contains(err.Error(), "hunter2secret") {
					t.Errorf("the password appears in %v", err)
				}
				for dsn, s := range c.servers {
					if n := s.openConnections(); n != 0 {
						t.Errorf("open connections of %s = %d, want 0", dsn, n)
					}
				}
				goleak.VerifyNone(t, ignore)
			})
		}
	})
}

func TestReplica_PreparedStatements(t *testing.T) {
	t.Run("uses the primary if preparing fails", func(t *testing.T) {
		c := &cluster{}
		db := openCluster(t.Context(), t, c, func(o *xdb.Options) {
			o.Gorm = func(config *gorm.Config) { config.PrepareStmt = true }
		})
		c.at(firstDSN).isDown.Store(true)
		c.at(secondDSN).isDown.Store(true)
		for name, do := range map[string]func() error{
			// gorm returns a row without an error
			"row": func() error {
				return ignoreNotFound(db.Model(&article{}).Row().Scan(new(int)))
			},
			"find": func() error { return db.Find(&[]article{}).Error },
		} {
			if err := do(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	})

	// gorm starts a goroutine that never exits for each database that it opens with
	// prepared statements.
	t.Run("creates no cache for a replica that is down", func(t *testing.T) {
		caches := func() int {
			stacks := make([]byte, 1<<20)
			return bytes.Count(stacks[:runtime.Stack(stacks, true)],
				[]byte("created by gorm.io/gorm/internal/lru"))
		}
		before := caches()
		c := &cluster{}
		c.at(firstDSN).isDown.Store(true)
		c.at(secondDSN).isDown.Store(true)
		openCluster(t.Context(), t, c, func(o *xdb.Options) {
			o.Gorm = func(config *gorm.Config) { config.PrepareStmt = true }
		})
		if got := caches() - before; got != 1 {
			t.Errorf("caches = %d, want 1 for the primary", got)
		}
	})
}

func TestClose_Replicas(t *testing.T) {
	ignore := goleak.IgnoreCurrent()
	c := &cluster{}
	c.at(secondDSN).isDown.Store(true)
	db, err := registryOf(c).Open(t.Context(), xdb.Options{
		Driver: "fake", DSN: primaryDSN, Replicas: []xlog.Secret{firstDSN, secondDSN},
	})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := xdb.Close(db.WithContext(t.Context())); err != nil {
			t.Error(err)
		}
	}
	if n := c.at(firstDSN).openConnections(); n != 0 {
		t.Errorf("open connections = %d, want 0", n)
	}
	goleak.VerifyNone(t, ignore)
}
