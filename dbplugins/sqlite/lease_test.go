package sqlite_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/schema"

	"github.com/plinthgo/plinth/conformance/dbtest"
	"github.com/plinthgo/plinth/conformance/leasetest"
	"github.com/plinthgo/plinth/core/common/xlease"
	leasedriver "github.com/plinthgo/plinth/core/common/xlease/driver"
	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
	"github.com/plinthgo/plinth/dbplugins/sqlite"
)

// openAt opens the database at path and closes it after the test.
func openAt(tb testing.TB, path string) *gorm.DB {
	tb.Helper()
	db, err := xdb.Open(tb.Context(), xdb.Options{
		Driver: sqlite.Name,
		Parts:  driver.Config{Source: xenv.Map{"DATABASE_PATH": path}},
	})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := xdb.Close(db); err != nil {
			tb.Error(err)
		}
	})
	return db
}

func TestLeases(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	db := openAt(t, path)
	leasetest.Run(t, leasetest.Harness{
		Open: func(tb testing.TB) leasedriver.Backend {
			tb.Helper()
			leases, err := xdb.Leases(openAt(tb, path))
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
			// the clock has a resolution of 1 ms, and a deleted row leaves no fencing
			// token
			<-time.After(2 * time.Millisecond)
		},
		Source: "in process, a file", Server: "SQLite " + version(),
	})
}

// TestLeases_Release covers a caller whose Acquire failed before the table was created.
func TestLeases_Release(t *testing.T) {
	leases, err := xdb.Leases(openAt(t, filepath.Join(t.TempDir(), "test.db")))
	if err != nil {
		t.Fatal(err)
	}
	b := leases.Backend()
	held, err := b.Release(t.Context(),
		leasedriver.Holding{Name: "job", Holder: "me", TTL: time.Minute})
	if err != nil || held {
		t.Errorf("Release = %t, %v, want false", held, err)
	}
}

func TestLeases_NamingStrategy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	db, err := xdb.Open(t.Context(), xdb.Options{
		Driver: sqlite.Name,
		Parts:  driver.Config{Source: xenv.Map{"DATABASE_PATH": path}},
		Gorm: func(c *gorm.Config) {
			c.NamingStrategy = schema.NamingStrategy{NoLowerCase: true}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = xdb.Close(db) }()
	leases, err := xdb.Leases(db)
	if err != nil {
		t.Fatal(err)
	}
	for i, holder := range []string{"one", "other"} {
		r := leasedriver.Request{Name: "job", Count: 1, Holder: holder, TTL: time.Minute}
		if g, err := leases.Backend().Acquire(t.Context(), r); err != nil || g.OK != (i == 0) {
			t.Errorf("%s: acquire = %+v, %v; want a grant for the first holder only",
				holder, g, err)
		}
	}
}

func TestDriver_Scope(t *testing.T) {
	for _, tc := range []struct {
		name, path string
		want       leasedriver.Scope
	}{
		{name: "file", path: filepath.Join(t.TempDir(), "test.db"), want: leasedriver.Host},
		{name: "memory", path: ":memory:", want: leasedriver.Process},
	} {
		t.Run(tc.name, func(t *testing.T) {
			leases, err := xdb.Leases(openAt(t, tc.path))
			if err != nil {
				t.Fatal(err)
			}
			want := leasedriver.Capabilities{Scope: tc.want, Durable: true, Name: sqlite.Name}
			if got := leases.Capabilities(); got != want {
				t.Errorf("capabilities = %+v, want %+v", got, want)
			}
		})
	}
}

func TestDriver_NowMicros(t *testing.T) {
	db := openAt(t, ":memory:")
	for range 100 {
		var now int64
		before := time.Now().Truncate(time.Millisecond)
		if err := db.Raw("SELECT " + sqlite.Driver{}.NowMicros()).Row().Scan(&now); err != nil {
			t.Fatal(err)
		}
		if at := time.UnixMicro(now); at.Before(before) || at.After(time.Now()) {
			t.Fatalf("clock = %s, want between %s and %s", at, before, time.Now())
		}
	}
}

// TestLeases_Replica uses a replica without the leases table.
func TestLeases_Replica(t *testing.T) {
	parts := func(path string) driver.Config {
		return driver.Config{Source: xenv.Map{"DATABASE_PATH": path}}
	}
	dir := t.TempDir()
	replica, err := sqlite.Driver{}.DSN(parts(filepath.Join(dir, "replica.db")))
	if err != nil {
		t.Fatal(err)
	}
	db := open(t, xdb.Options{
		Parts:    parts(filepath.Join(dir, "test.db")),
		Replicas: []xlog.Secret{xlog.Secret(replica)},
	})
	leases, err := xdb.Leases(db)
	if err != nil {
		t.Fatal(err)
	}
	b := leases.Backend()
	r := leasedriver.Request{Name: "slot", Count: 1, Holder: "one", TTL: time.Minute}
	g, err := b.Acquire(t.Context(), r)
	if err != nil || !g.OK {
		t.Fatalf("acquire = %+v, %v", g, err)
	}
	if g, err = b.Acquire(t.Context(), r); err != nil || g.OK {
		t.Errorf("second acquire = %+v, %v; want no slot", g, err)
	}
	h := leasedriver.Holding{Name: "slot", Holder: "one", TTL: time.Minute}
	if held, err := b.Release(t.Context(), h); err != nil || !held {
		t.Errorf("release = %t, %v", held, err)
	}
}

// TestLeases_Acquire_Mark covers a last holder, whose lease has expired, that writes a
// mark between the two statements of an Acquire.
func TestLeases_Acquire_Mark(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	lastLeases, err := xdb.Leases(openAt(t, path))
	if err != nil {
		t.Fatal(err)
	}
	last := lastLeases.Backend()
	r := leasedriver.Request{
		Name: "slot", Count: 2, Holder: "last", TTL: time.Millisecond, Mark: 5, Past: 5,
	}
	g, err := last.Acquire(t.Context(), r)
	if err != nil || !g.OK {
		t.Fatalf("acquire = %+v, %v", g, err)
	}
	<-time.After(10 * time.Millisecond)
	var once sync.Once
	var registry xdb.Registry
	registry.Register(tampering(tamper{query: func(query string) string {
		if strings.HasPrefix(query, "UPDATE") {
			once.Do(func() {
				held, err := last.Release(t.Context(),
					leasedriver.Holding{Name: r.Name, Holder: r.Holder, Token: g.Token, Mark: 77})
				if err != nil || !held {
					t.Errorf("release = %t, %v", held, err)
				}
			})
		}
		return query
	}}))
	db, err := registry.Open(t.Context(), xdb.Options{
		Driver: sqlite.Name,
		Parts:  driver.Config{Source: xenv.Map{"DATABASE_PATH": path}},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = xdb.Close(db) }()
	nextLeases, err := xdb.Leases(db)
	if err != nil {
		t.Fatal(err)
	}
	next := nextLeases.Backend()
	got, err := next.Acquire(t.Context(),
		leasedriver.Request{Name: "slot", Count: 1, Holder: "next", TTL: time.Minute, Mark: 6})
	if err != nil || !got.OK || got.Mark != 77 {
		t.Errorf("acquire = %+v, %v; want the mark 77", got, err)
	}
}

// fast is the driver with a clock that is one hour fast.
type fast struct{ sqlite.Driver }

func (f fast) NowMicros() string { return "(3600000000 + " + f.Driver.NowMicros() + ")" }

// leaseWithout removes conditions from the statements of leases.
func leaseWithout(conditions ...string) func(string) string {
	return func(query string) string {
		if !strings.Contains(query, "plinth_leases") {
			return query
		}
		for _, c := range conditions {
			replacement := "AND 1 = 1"
			if strings.Contains(c, "?") {
				replacement = "AND ? IS NOT NULL"
			}
			query = strings.ReplaceAll(query, c, replacement)
		}
		return query
	}
}

func TestRun_BrokenLeases(t *testing.T) {
	now := sqlite.Driver{}.NowMicros()
	for _, tc := range []struct {
		name   string
		driver driver.Driver
		want   []string
	}{
		{name: "no fault", driver: tampering(tamper{})},
		{
			name:   "clock an hour fast",
			driver: fast{},
			want:   []string{"Lease/tokens follow the wall clock"},
		},
		{
			name: "concurrent changes are ignored",
			driver: tampering(tamper{query: leaseWithout("AND `token` = ?", "AND `mark` = ?",
				"AND `until_us` <= "+now)}),
			want: []string{"Lease/one of two acquires", "Lease/slots have one holder"},
		},
		{
			name:   "renewal ignores the holder",
			driver: tampering(tamper{query: leaseWithout("AND `holder` = ?")}),
			want:   []string{"Lease/renew restores a deleted row"},
		},
		{
			name: "sweep removes held leases",
			driver: tampering(
				tamper{query: leaseWithout("AND `slot` = 0", "AND `until_us` < "+now+" - ?")}),
			want: []string{"Lease/removes old rows"},
		},
		{
			name: "names are truncated",
			driver: tampering(tamper{arg: func(arg any) any {
				if id, ok := arg.(string); ok && len(id) == 64 {
					return id[:1]
				}
				return arg
			}}),
			want: []string{"Lease/names are exact"},
		},
		{
			name: "no table prefix",
			driver: broken{dialector: func(dsn string) gorm.Dialector {
				return unprefixed{dialect{sqlite.Driver{}.Dialector(dsn)}}
			}},
			want: []string{"Lease/table is created once with the prefix"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			h := harness()
			h.Driver = tc.driver
			if len(tc.want) > 0 {
				wantFailures(t, h, tc.want)
				return
			}
			for name, failures := range dbtest.Failures(t, h, "Lease/names are exact",
				"Lease/slots have one holder", "Lease/removes old rows") {
				t.Errorf("%s: %q", name, failures)
			}
		})
	}
}

// hanging is a driver that never acquires the schema lock.
type hanging struct {
	sqlite.Driver

	waiting chan struct{} // closed when Migrate is called
}

func (h hanging) Migrate(ctx context.Context, _ *gorm.DB, _ func(tx *gorm.DB) error) error {
	close(h.waiting)
	<-ctx.Done()
	return ctx.Err()
}

func TestLeases_Prepare(t *testing.T) {
	t.Run("is canceled by Close", func(t *testing.T) {
		var r xdb.Registry
		h := hanging{waiting: make(chan struct{})}
		r.Register(h)
		db, err := r.Open(t.Context(), xdb.Options{Driver: sqlite.Name, DSN: ":memory:"})
		if err != nil {
			t.Fatal(err)
		}
		leases, err := xdb.Leases(db)
		if err != nil {
			t.Fatal(err)
		}
		prepared := make(chan error, 1)
		go func() { prepared <- leases.Prepare(context.WithoutCancel(t.Context())) }()
		<-h.waiting
		if err := xdb.Close(db); err != nil {
			t.Error(err)
		}
		select {
		case err := <-prepared:
			if !errors.Is(err, xlease.ErrClosed) {
				t.Errorf("Prepare = %v, want ErrClosed", err)
			}
		case <-time.After(5 * time.Second):
			t.Error("Prepare is still running after Close")
		}
	})
}
