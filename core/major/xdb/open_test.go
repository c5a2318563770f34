package xdb_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

var errRefused = &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}

func TestOpen_Retry(t *testing.T) {
	t.Run("retries until the database is available", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, log := logged(t)
			f := &fakeDriver{connect: func(_ context.Context, attempt int) error {
				if attempt < 5 {
					return errRefused
				}
				return nil
			}}
			start := time.Now()
			db, err := registryOf(f).Open(ctx, xdb.Options{Driver: "fake"})
			if err != nil {
				t.Fatal(err)
			}
			// The waits are 250 ms, 500 ms, 1 s and 2 s, each less up to half of it.
			elapsed := time.Since(start)
			if elapsed < 1875*time.Millisecond || elapsed > 3750*time.Millisecond {
				t.Errorf("Open took %s, want between 1.9 s and 3.75 s", elapsed)
			}
			if got := log.count("database not reachable yet"); got != 4 {
				t.Errorf("log lines of failed attempts = %d, want 4:\n%s", got, log)
			}
			if got := log.count("database connected"); got != 1 {
				t.Errorf("log lines of the successful attempt = %d, want 1:\n%s", got, log)
			}
			if err := xdb.Close(db); err != nil {
				t.Error(err)
			}
			if n := f.openConnections(); n != 0 {
				t.Errorf("open connections = %d, want 0", n)
			}
		})
	})

	t.Run("stops after the timeout or a permanent error", func(t *testing.T) {
		hang := func(ctx context.Context, _ int) error {
			<-ctx.Done()
			return ctx.Err()
		}
		fail := func(err error) func(context.Context, int) error {
			return func(context.Context, int) error { return err }
		}
		ofKind := func(k driver.ErrorKind) func(error) driver.ErrorKind {
			return func(error) driver.ErrorKind { return k }
		}
		for _, tc := range []struct {
			name     string
			fake     *fakeDriver
			timeout  time.Duration
			attempts int           // 0 means any number
			most     time.Duration // maximum duration of Open
			want     string
		}{
			{
				name: "after the default timeout", fake: &fakeDriver{connect: fail(errRefused)},
				most: 30 * time.Second, want: "failed at attempt",
			},
			{
				name: "after the timeout",
				fake: &fakeDriver{connect: fail(errRefused)}, timeout: 2 * time.Second,
				most: 2 * time.Second, want: "connection refused",
			},
			{
				name: "at once without a timeout",
				fake: &fakeDriver{connect: fail(errRefused)}, timeout: -1,
				attempts: 1, want: "connection refused",
			},
			{
				name: "an unresponsive server",
				fake: &fakeDriver{connect: hang}, timeout: 12 * time.Second, attempts: 3,
				most: 17 * time.Second, want: "no response within 5s",
			},
			{
				name: "a wrong password",
				fake: &fakeDriver{
					connect: fail(errors.New("28P01")), kind: ofKind(driver.Authentication),
				},
				attempts: 1, want: "28P01",
			},
			{
				name: "an unknown database",
				fake: &fakeDriver{
					connect: fail(errors.New("3D000")), kind: ofKind(driver.UnknownDatabase),
				},
				attempts: 1, want: "3D000",
			},
			{
				name: "a missing file",
				fake: &fakeDriver{
					connect: fail(&fs.PathError{Op: "open", Path: "ca.pem", Err: syscall.ENOENT}),
				},
				attempts: 1, want: "ca.pem",
			},
			{
				name:     "an unknown error",
				fake:     &fakeDriver{connect: fail(errors.New("unclassified"))},
				attempts: 1, want: "unclassified",
			},
			{
				name: "a transient kind",
				fake: &fakeDriver{
					connect: fail(errors.New("starting up")), kind: ofKind(driver.Connection),
				},
				timeout: time.Second, most: time.Second, want: "starting up",
			},
			{
				name: "a server at its connection limit",
				fake: &fakeDriver{
					connect: fail(errors.New("53300")), kind: ofKind(driver.TooManyConnections),
				},
				timeout: time.Second, most: time.Second, want: "failed at attempt",
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					ctx, _ := logged(t)
					start := time.Now()
					_, err := registryOf(tc.fake).Open(ctx,
						xdb.Options{Driver: "fake", ConnectTimeout: tc.timeout})
					if err == nil || !strings.Contains(err.Error(), tc.want) {
						t.Errorf("error = %v, want %q in it", err, tc.want)
					}
					if elapsed := time.Since(start); elapsed > tc.most {
						t.Errorf("Open took %s, want at most %s", elapsed, tc.most)
					}
					if got := tc.fake.connectAttempts(); tc.attempts != 0 && got != tc.attempts {
						t.Errorf("attempts = %d, want %d", got, tc.attempts)
					}
					synctest.Wait()
				})
			})
		}
	})
}

func TestOpen_Context(t *testing.T) {
	t.Run("stops when the context ends", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			parent, _ := logged(t)
			cause := errors.New("startup aborted")
			for _, connect := range []func(context.Context, int) error{
				func(context.Context, int) error { return errRefused },
				func(ctx context.Context, _ int) error { <-ctx.Done(); return ctx.Err() },
			} {
				ctx, cancel := context.WithCancelCause(parent)
				time.AfterFunc(1100*time.Millisecond, func() { cancel(cause) })
				start := time.Now()
				f := &fakeDriver{connect: connect}
				_, err := registryOf(f).Open(ctx, xdb.Options{Driver: "fake"})
				if !errors.Is(err, cause) {
					t.Errorf("error = %v, want the cause", err)
				}
				if elapsed := time.Since(start); elapsed != 1100*time.Millisecond {
					t.Errorf("Open took %s, want 1.1 s", elapsed)
				}
				synctest.Wait()
			}
		})
	})

	t.Run("does not connect after the context ended", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			parent, _ := logged(t)
			cause := errors.New("startup aborted")
			ctx, cancel := context.WithCancelCause(parent)
			cancel(cause)
			f := &fakeDriver{}
			_, err := registryOf(f).Open(ctx, xdb.Options{Driver: "fake"})
			if !errors.Is(err, cause) {
				t.Errorf("error = %v, want the cause", err)
			}
			synctest.Wait() // for an abandoned attempt
			if f.initialized != 0 {
				t.Error("a dialector was initialized after Open returned")
			}
		})
	})
}

func TestOpen_Prepare(t *testing.T) {
	t.Run("closes the pool after an error", func(t *testing.T) {
		boom := errors.New("boom")
		prepare := []xdb.Prepare{func(_ context.Context, db *gorm.DB) error {
			return errors.Join(boom, db.Exec("x").Error)
		}}
		f := &fakeDriver{}
		_, err := registryOf(f).Open(t.Context(), xdb.Options{Driver: "fake", Prepare: prepare})
		if !errors.Is(err, boom) {
			t.Errorf("error = %v, want the error of the Prepare function", err)
		}
		if n := f.openConnections(); n != 0 {
			t.Errorf("open connections = %d, want 0", n)
		}
	})

	t.Run("runs the functions in order", func(t *testing.T) {
		var order []int
		var prepare []xdb.Prepare
		for i := range 3 {
			prepare = append(prepare,
				func(context.Context, *gorm.DB) error { order = append(order, i); return nil })
		}
		db, err := registryOf(&fakeDriver{}).Open(t.Context(),
			xdb.Options{Driver: "fake", Prepare: prepare})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = xdb.Close(db) }()
		if got := fmt.Sprint(order); got != "[0 1 2]" {
			t.Errorf("order = %s, want [0 1 2]", got)
		}
	})
}

func TestOpen_Dialector(t *testing.T) {
	var r xdb.Registry
	f := &fakeDriver{}
	db, err := r.Open(t.Context(), xdb.Options{Dialector: f.Dialector("")})
	if err != nil {
		t.Fatal(err)
	}
	if err := xdb.CheckHealth(t.Context(), db); err != nil {
		t.Errorf("health = %v", err)
	}
	if err := xdb.Close(db); err != nil {
		t.Error(err)
	}
}

func TestOpen_Options(t *testing.T) {
	o := xdb.Options{
		Driver: "fake", TablePrefix: "app_", SkipDefaultTransaction: true, MaxOpenConns: 7,
		Gorm: func(c *gorm.Config) { c.QueryFields = true },
	}
	db, err := registryOf(&fakeDriver{}).Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = xdb.Close(db) }()
	pool, err := db.DB()
	if err != nil {
		t.Fatal(err)
	}
	if got := pool.Stats().MaxOpenConnections; got != 7 {
		t.Errorf("MaxOpenConnections = %d, want 7", got)
	}
	if got := db.NamingStrategy.TableName("User"); got != "app_users" {
		t.Errorf("table = %q, want app_users", got)
	}
	o.SingularTables = true
	singular, err := registryOf(&fakeDriver{}).Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = xdb.Close(singular) }()
	if got := singular.NamingStrategy.TableName("User"); got != "app_user" {
		t.Errorf("table = %q, want app_user", got)
	}
	long := db.NamingStrategy.IndexName(strings.Repeat("t", 50), strings.Repeat("c", 50))
	if len(long) > 63 {
		t.Errorf("the name of an index has %d bytes, want at most 63", len(long))
	}
	now := db.NowFunc()
	if now.Location() != time.UTC || now.Nanosecond()%1000 != 0 {
		t.Errorf("now = %v, want UTC and whole microseconds", now)
	}
	if !db.SkipDefaultTransaction || !db.QueryFields {
		t.Error("the configuration lacks an option")
	}
}

// password contains characters that every way of quoting changes.
const password = `p@ss/w'o"rd %2F;x=y\z 密`

func TestOpen_Secrets(t *testing.T) {
	for _, tc := range []struct {
		name string
		err  func(dsn string) error
		dsn  string
	}{
		{
			name: "plain",
			err:  func(string) error { return errors.New("login failed with " + password) },
		},
		{
			name: "whole DSN",
			err:  func(dsn string) error { return fmt.Errorf("cannot parse %s", dsn) },
			dsn:  "fake://u:" + password + "@h/db",
		},
		{
			name: "quoted DSN",
			err:  func(dsn string) error { return fmt.Errorf("cannot parse %q", dsn) },
			dsn:  "fake://u:" + password + "@h/db",
		},
		{
			name: "key and value",
			err:  func(string) error { return errors.New("bad password=hunter2secret") },
			dsn:  "host=h password=hunter2secret dbname=x",
		},
		{
			name: "semicolons",
			err:  func(string) error { return errors.New("hunter2secret?") },
			dsn:  "server=h;user id=sa;Password={hunter2secret};database=x",
		},
		{
			name: "mysql",
			err:  func(string) error { return errors.New("Access denied hunter2secret") },
			dsn:  "root:hunter2secret@tcp(h:3306)/x",
		},
		{
			name: "invalid escape",
			err:  func(string) error { return errors.New(`parse: invalid URL escape "%ZZ"`) },
			dsn:  "fake://u:hunter2%ZZsecret@h/db",
		},
	} {
		for _, kind := range []driver.ErrorKind{driver.Unknown, driver.Connection} {
			t.Run(fmt.Sprintf("%s/%s", tc.name, kind), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					ctx, log := logged(t)
					o := xdb.Options{
						Driver: "fake", DSN: xlog.Secret(tc.dsn), ConnectTimeout: time.Second,
						Parts: driver.Config{User: "u", Pass: password, Host: "h", Name: "db"},
					}
					f := &fakeDriver{
						connect: func(context.Context, int) error { return tc.err(tc.dsn) },
						kind:    func(error) driver.ErrorKind { return kind },
					}
					_, err := registryOf(f).Open(ctx, o)
					if err == nil {
						t.Fatal("Open succeeded")
					}
					d, resolveErr := registryOf(f).Resolve(o)
					text := fmt.Sprintf("%v %+v %#v %s %v %v %v %+v",
						err, err, err, log, d, resolveErr, o, o)
					for _, secret := range []string{
						password, "hunter2secret", "%ZZ", "p@ss", "p%40ss",
					} {
						if strings.Contains(text, secret) {
							t.Errorf("%q appears in %s", secret, text)
						}
					}
				})
			})
		}
	}
}
