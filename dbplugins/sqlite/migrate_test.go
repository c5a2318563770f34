package sqlite_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
	"github.com/plinthgo/plinth/dbplugins/sqlite"
)

// Two versions of a schema. The migration rebuilds owners, which gadgets reference.
type (
	owner struct {
		ID   int64  `gorm:"primaryKey;autoIncrement:false"`
		Name string `gorm:"size:20;not null"`
	}

	ownerAfter struct {
		ID     int64   `gorm:"primaryKey;autoIncrement:false"`
		Name   string  `gorm:"size:200"`
		Colour *string `gorm:"size:20;index"`
	}

	gadget struct {
		ID      int64  `gorm:"primaryKey;autoIncrement:false"`
		Serial  string `gorm:"uniqueIndex"`
		OwnerID int64
		Owner   *owner `gorm:"constraint:OnDelete:CASCADE"`
	}
)

func (ownerAfter) TableName() string { return "owners" }

const (
	replicas = 8
	rounds   = 20
)

// replicaEnv makes the test binary a replica that migrates this path when its standard
// input is closed.
const replicaEnv xenv.EnvKey = "PLINTH_TEST_REPLICA"

func TestMain(m *testing.M) {
	if path, ok := xenv.GetEnv(replicaEnv); ok {
		os.Exit(replica(path))
	}
	if path, ok := xenv.GetEnv(victimEnv); ok {
		victim(path)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func replica(path string) int {
	_, _ = os.Stdout.WriteString("ready\n")
	_, _ = io.Copy(io.Discard, os.Stdin)
	o := xdb.Options{
		Parts:      driver.Config{Source: xenv.Map{"DATABASE_PATH": path}},
		Migrations: []fs.FS{countedFiles},
	}
	err := autoMigrate(context.Background(), o, &owner{}, &gadget{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// autoMigrate migrates with its own pool.
func autoMigrate(ctx context.Context, o xdb.Options, entities ...any) error {
	o.Driver, o.AutoMigrate = sqlite.Name, entities
	db, err := xdb.Open(ctx, o)
	if err != nil {
		return err
	}
	return xdb.Close(db)
}

// together runs f n times concurrently.
func together(n int, f func(i int)) {
	var wg sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		wg.Go(func() {
			<-start
			f(i)
		})
	}
	close(start)
	wg.Wait()
}

func TestDriver_Migrate_Concurrent(t *testing.T) {
	for _, tc := range []struct {
		name    string
		options func(path string) xdb.Options
	}{
		{name: "path", options: func(path string) xdb.Options {
			return xdb.Options{Parts: driver.Config{Source: xenv.Map{"DATABASE_PATH": path}}}
		}},
		{
			name:    "DSN without a setting",
			options: func(path string) xdb.Options { return xdb.Options{DSN: xlog.Secret(path)} },
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for range rounds {
				o := tc.options(filepath.Join(t.TempDir(), "fresh.db"))
				together(replicas, func(int) {
					if err := autoMigrate(t.Context(), o, &owner{}, &gadget{}); err != nil {
						t.Error(err)
					}
				})
			}
		})
	}
}

func TestDriver_Migrate_Processes(t *testing.T) {
	for range 5 {
		path := filepath.Join(t.TempDir(), "fresh.db")
		start := make([]func() error, replicas)
		for i := range start {
			start[i] = startReplica(t, path)
		}
		together(replicas, func(i int) {
			if err := start[i](); err != nil {
				t.Error(err)
			}
		})
		o := xdb.Options{Parts: driver.Config{Source: xenv.Map{"DATABASE_PATH": path}}}
		wantRuns(t, open(t, o), "counted")
	}
}

// startReplica starts a process. The returned function makes the process migrate and
// waits until it exits.
func startReplica(t *testing.T, path string) func() error {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), string(replicaEnv)+"="+path)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err := errors.Join(err1, err2, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	if line, err := lines.ReadString('\n'); err != nil || line != "ready\n" {
		t.Fatalf("output of the replica = %q, %v", line, err)
	}
	return func() error {
		if err := in.Close(); err != nil {
			return err
		}
		_, _ = io.Copy(io.Discard, lines) // Wait closes the pipe
		if err := cmd.Wait(); err != nil {
			return fmt.Errorf("replica: %w: %s", err, stderr.String())
		}
		return nil
	}
}

func TestDriver_Migrate(t *testing.T) {
	t.Run("preserves the rows during concurrent schema changes", func(t *testing.T) {
		for range rounds {
			o := file(t)
			o.Driver, o.AutoMigrate = sqlite.Name, []any{&owner{}, &gadget{}}
			db, err := xdb.Open(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			err = errors.Join(db.Create(&owner{ID: 1, Name: "ann"}).Error,
				db.Create(&gadget{ID: 1, Serial: "a", OwnerID: 1}).Error)
			if err != nil {
				t.Fatal(err)
			}
			together(2, func(int) {
				if err := autoMigrate(t.Context(), o, &ownerAfter{}); err != nil {
					t.Error(err)
				}
			})
			var owners, gadgets int64
			err = errors.Join(db.Model(&owner{}).Count(&owners).Error,
				db.Model(&gadget{}).Count(&gadgets).Error)
			if err != nil || owners != 1 || gadgets != 1 {
				t.Errorf("rows = %d and %d, %v; want one of each", owners, gadgets, err)
			}
			if !db.Migrator().HasColumn(&ownerAfter{}, "colour") ||
				db.Migrator().HasTable("owners__temp") {
				t.Error("the schema is not the newer version")
			}
			if err := xdb.Close(db); err != nil {
				t.Error(err)
			}
		}
	})

	t.Run("rolls back after an error", func(t *testing.T) {
		boom := errors.New("boom")
		for _, o := range []xdb.Options{
			file(t),
			{Parts: driver.Config{Source: xenv.Map{"DATABASE_PATH": ":memory:"}}},
		} {
			o.MaxOpenConns = 1
			db := open(t, o)
			err := sqlite.Driver{}.Migrate(t.Context(), db, func(tx *gorm.DB) error {
				return errors.Join(tx.AutoMigrate(&owner{}), boom)
			})
			if !errors.Is(err, boom) {
				t.Errorf("Migrate = %v, want the error of the function", err)
			}
			if db.Migrator().HasTable(&owner{}) {
				t.Error("a failed migration left a table")
			}
			if on := foreignKeys(t, db); on != 1 {
				t.Errorf("foreign_keys = %d, want 1", on)
			}
		}
	})

	t.Run("stops when the context is canceled", func(t *testing.T) {
		o := file(t)
		o.MaxOpenConns = 1
		db := open(t, o)
		ctx, cancel := context.WithCancel(t.Context())
		err := sqlite.Driver{}.Migrate(ctx, db, func(tx *gorm.DB) error {
			cancel()
			return tx.AutoMigrate(&owner{})
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("Migrate = %v, want Canceled", err)
		}
		if on := foreignKeys(t, db); on != 1 {
			t.Errorf("foreign_keys = %d, want 1", on)
		}
	})

	t.Run("waits for a long migration", func(t *testing.T) {
		o := file(t)
		synctest.Test(t, func(t *testing.T) {
			db := open(t, o)
			holder := db.Begin()
			go func() {
				<-time.After(30 * time.Second) // longer than the lock timeout of a statement
				holder.Rollback()
			}()
			start := time.Now()
			if err := (sqlite.Driver{}).Migrate(t.Context(), db,
				func(*gorm.DB) error { return nil }); err != nil {
				t.Error(err)
			}
			if elapsed := time.Since(start); elapsed < 30*time.Second {
				t.Errorf("Migrate returned after %s, want at least 30 s", elapsed)
			}
		})
	})

	t.Run("accepts an up-to-date read-only database", func(t *testing.T) {
		path := empty(t)
		for _, query := range []string{"", "?mode=ro", "?mode=ro&_txlock=immediate"} {
			o := xdb.Options{DSN: xlog.Secret("file:" + path + query)}
			if err := autoMigrate(t.Context(), o, &owner{}, &gadget{}); err != nil {
				t.Errorf("migrate%s = %v", query, err)
			}
		}
	})
}

func foreignKeys(t *testing.T, db *gorm.DB) (on int) {
	t.Helper()
	if err := db.Raw("PRAGMA foreign_keys").Scan(&on).Error; err != nil {
		t.Fatal(err)
	}
	return on
}

func TestOpen_Errors(t *testing.T) {
	text := filepath.Join(t.TempDir(), "text.db")
	if err := os.WriteFile(text, []byte(strings.Repeat("this is no database\n", 100)),
		0o600); err != nil {
		t.Fatal(err)
	}
	missing := filepath.Join(t.TempDir(), "missing", "app.db")
	for _, tc := range []struct {
		name string
		o    xdb.Options
		want string
	}{
		{
			name: "path",
			o:    xdb.Options{Parts: driver.Config{Source: xenv.Map{"DATABASE_PATH": text}}},
			want: "xdb: open sqlite " + text +
				" (DATABASE_PATH): database cannot be opened: file is not a database (26)",
		},
		{
			name: "DSN", o: xdb.Options{DSN: xlog.Secret(missing + "?_auth_pass=hunter2")},
			want: "xdb: open sqlite " + missing +
				" (DATABASE_DSN): database cannot be opened: unable to open database file (14)",
		},
		{
			name: "read-only", o: xdb.Options{DSN: xlog.Secret("file:" + empty(t) + "?mode=ro")},
			want: "xdb: migrate (DATABASE_DSN): database is read-only: attempt to write a readonly database (8)",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := autoMigrate(t.Context(), tc.o, &owner{})
			if err == nil || err.Error() != tc.want {
				t.Errorf("error = %v, want %s", err, tc.want)
			}
		})
	}
}

// empty creates a database without tables.
func empty(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "empty.db")
	if err := autoMigrate(t.Context(), xdb.Options{DSN: xlog.Secret(path)}); err != nil {
		t.Fatal(err)
	}
	return path
}
