package xdb_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/utils/tests"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

func clearEnv(t *testing.T) {
	t.Helper()
	for _, v := range xenv.Table() {
		if strings.HasPrefix(v.Key.String(), "DATABASE_") {
			t.Setenv(v.Key.String(), "")
		}
	}
}

func TestFromEnv(t *testing.T) {
	t.Run("configures no database without a driver", func(t *testing.T) {
		clearEnv(t)
		for _, name := range []string{"", "none"} {
			t.Setenv(xenv.DatabaseDriver.String(), name)
			o := xdb.NewOptions(xdb.FromEnv())
			if o.Enabled() {
				t.Errorf("Enabled = true for DATABASE_DRIVER=%q", name)
			}
			if _, err := xdb.Open(t.Context(), o); err == nil ||
				!strings.Contains(err.Error(), "DATABASE_DRIVER: is not set") {
				t.Errorf("DATABASE_DRIVER=%q: Open = %v, want the name of the variable", name, err)
			}
		}
	})

	t.Run("reads the environment when it is applied", func(t *testing.T) {
		clearEnv(t)
		option := xdb.FromEnv()
		for name, value := range map[xenv.EnvKey]string{
			xenv.DatabaseDriver: "postgres", xenv.DatabaseHost: "h", xenv.DatabasePort: "5433",
			xenv.DatabaseUser: "u", xenv.DatabasePass: "p", xenv.DatabaseName: "n",
			xenv.DatabasePrefix: "app_", "DATABASE_SINGULAR_TABLES": "true",
			"DATABASE_MAX_OPEN_CONNS": "7", "DATABASE_MAX_IDLE_CONNS": "0",
			"DATABASE_CONN_MAX_LIFETIME": "1m", "DATABASE_CONN_MAX_IDLE_TIME": "2m",
			"DATABASE_CONNECT_TIMEOUT": "0", "DATABASE_SLOW_THRESHOLD": "350",
		} {
			t.Setenv(name.String(), value)
		}
		got := xdb.NewOptions(option)
		want := xdb.Options{
			Driver: "postgres",
			Parts: driver.Config{
				Host: "h", Port: 5433, User: "u", Pass: "p", Name: "n", Source: xenv.Environment(),
			},
			TablePrefix: "app_", SingularTables: true, MaxOpenConns: 7, MaxIdleConns: -1,
			ConnMaxLifetime: time.Minute, ConnMaxIdleTime: 2 * time.Minute,
			ConnectTimeout: -1, AcquireTimeout: 5 * time.Second,
			SlowThreshold: 350 * time.Millisecond,
		}
		if got.Parts != want.Parts || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("options\n got %+v\nwant %+v", got, want)
		}
	})
}

func TestNewOptions(t *testing.T) {
	t.Run("later options override earlier ones", func(t *testing.T) {
		clearEnv(t)
		t.Setenv(xenv.DatabaseDriver.String(), "postgres")
		t.Setenv("DATABASE_MAX_OPEN_CONNS", "7")
		t.Setenv(xenv.DatabaseDsn.String(), "from the environment")
		before := xdb.NewOptions(xdb.WithMaxOpenConns(3), xdb.WithTablePrefix("kept_"),
			xdb.FromEnv())
		if before.MaxOpenConns != 7 || before.TablePrefix != "kept_" ||
			before.DSN.Reveal() != "from the environment" {
			t.Errorf("options before FromEnv = %+v, want the values of the environment", before)
		}
		after := xdb.NewOptions(xdb.FromEnv(), xdb.WithMaxOpenConns(3),
			xdb.WithDriver("mysql", "mine"))
		if after.MaxOpenConns != 3 || after.Driver != "mysql" || after.DSN.Reveal() != "mine" {
			t.Errorf("options after FromEnv = %+v, want their values", after)
		}
	})

	t.Run("zero disables limits", func(t *testing.T) {
		o := xdb.NewOptions(
			xdb.WithMaxOpenConns(0), xdb.WithMaxIdleConns(0), xdb.WithConnMaxLifetime(0),
			xdb.WithConnMaxIdleTime(0), xdb.WithConnectTimeout(0), xdb.WithSlowThreshold(0),
			xdb.WithAcquireTimeout(0),
		)
		if o.MaxOpenConns != -1 || o.MaxIdleConns != -1 || o.ConnMaxLifetime != -1 ||
			o.ConnMaxIdleTime != -1 || o.ConnectTimeout != -1 || o.SlowThreshold != -1 ||
			o.AcquireTimeout != -1 {
			t.Errorf("options = %+v, want -1 for every limit", o)
		}
	})

	t.Run("applies the other options", func(t *testing.T) {
		log := xlog.WithName("MINE")
		parts := driver.Config{Host: "h"}
		o := xdb.NewOptions(
			xdb.WithDSN("replaced by the parts"), xdb.WithParts(parts), xdb.WithLogger(log),
			xdb.WithSkipDefaultTransaction(), xdb.WithGorm(func(*gorm.Config) {}),
			xdb.WithConnectTimeout(time.Minute),
		)
		if o.DSN != "" || o.Parts != parts || o.Log != log || !o.SkipDefaultTransaction ||
			o.Gorm == nil || o.ConnectTimeout != time.Minute {
			t.Errorf("options = %+v", o)
		}
	})
}

func TestWithSingularTables(t *testing.T) {
	clearEnv(t)
	if o := xdb.NewOptions(xdb.WithSingularTables(), xdb.FromEnv()); !o.SingularTables {
		t.Error("FromEnv changed the option although the variable is not set")
	}
	t.Setenv("DATABASE_SINGULAR_TABLES", "false")
	if o := xdb.NewOptions(xdb.WithSingularTables(), xdb.FromEnv()); o.SingularTables {
		t.Error("DATABASE_SINGULAR_TABLES=false does not override the option")
	}
}

func TestWithSlowThreshold(t *testing.T) {
	for _, tc := range []struct {
		name string
		opt  xdb.Option
		want time.Duration
	}{
		{name: "plain number", opt: xdb.WithSlowThreshold(200), want: 200 * time.Millisecond},
		{name: "int64", opt: xdb.WithSlowThreshold(int64(5)), want: 5 * time.Millisecond},
		{name: "duration", opt: xdb.WithSlowThreshold(3 * time.Second), want: 3 * time.Second},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := xdb.NewOptions(tc.opt).SlowThreshold; got != tc.want {
				t.Errorf("threshold = %s, want %s", got, tc.want)
			}
		})
	}
}

func TestResolve(t *testing.T) {
	t.Run("reports all invalid options at once", func(t *testing.T) {
		_, err := xdb.Resolve(xdb.NewOptions(
			nil,
			xdb.WithAutoMigrate(nil),
			xdb.WithMigrations(nil),
			xdb.WithReplicas("file:a.db", " "),
			xdb.WithPrepare[func(*gorm.DB) error](nil),
			xdb.WithPrepare[func(context.Context, *gorm.DB) error](nil),
			xdb.WithDialector(nil), xdb.WithDriver("sqlserver", "dsn"),
		))
		if err == nil {
			t.Fatal("Resolve = nil, want an error")
		}
		for _, want := range []string{
			"AutoMigrate entity 1 is nil", "migration files 1 are nil",
			"replica 2: the DSN is empty", "Prepare function 1 is nil",
			"Prepare function 2 is nil", "WithDialector: the dialector is nil",
			`DATABASE_DRIVER: unsupported database driver "sqlserver"`,
		} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("Resolve = %v\nwant %q in it", err, want)
			}
		}
		if !errors.Is(err, xdb.ErrUnknownDriver) {
			t.Errorf("Resolve = %v, want ErrUnknownDriver", err)
		}
	})

	t.Run("reports an invalid option without a driver", func(t *testing.T) {
		o := xdb.NewOptions(xdb.WithDialector(nil))
		if _, err := xdb.Resolve(o); !o.Enabled() || err == nil ||
			!strings.Contains(err.Error(), "the dialector is nil") {
			t.Errorf("enabled: %t, Resolve = %v; want the nil dialector reported", o.Enabled(), err)
		}
	})

	t.Run("evaluates options and DSN once", func(t *testing.T) {
		var dsnCalls, evaluated int
		var r xdb.Registry
		r.Register(countingDriver{dsnCalls: &dsnCalls})
		o := xdb.NewOptions(func(*xdb.Options) { evaluated++ }, xdb.WithDriver("bare", ""),
			xdb.WithRegistry(&r))
		d, err := xdb.Resolve(o)
		if err != nil || d.String() != "bare" || d.SupportsLeases() || d.HasSchema() {
			t.Fatalf("Resolve = %v, %v", d, err)
		}
		if _, err := d.Connect(t.Context()); !errors.Is(err, errDialector) {
			t.Errorf("Connect = %v, want the dialector's error", err)
		}
		if dsnCalls != 1 || evaluated != 1 {
			t.Errorf("DSN was called %d times and the option ran %d times, want once each",
				dsnCalls, evaluated)
		}
	})
}

// dialector is a dialector whose Initialize fails.
type dialector struct{ tests.DummyDialector }

var errDialector = errors.New("initialization failed")

func (dialector) Initialize(*gorm.DB) error { return errDialector }

func TestWithDialector(t *testing.T) {
	clearEnv(t)
	o := xdb.NewOptions(xdb.FromEnv(), xdb.WithDialector(dialector{}))
	d, err := xdb.Resolve(o)
	if err != nil || !o.Enabled() || d.String() != "dummy" {
		t.Fatalf("Resolve with a dialector = %v, %s", err, d)
	}
	if _, err := d.Connect(t.Context()); !errors.Is(err, errDialector) {
		t.Errorf("Connect = %v, want the dialector's error", err)
	}
}

func TestWithPrepare(t *testing.T) {
	var order []string
	plain := func(name string) func(*gorm.DB) error {
		return func(*gorm.DB) error { order = append(order, name); return nil }
	}
	withContext := func(ctx context.Context, _ *gorm.DB) error {
		order = append(order, ctx.Value(key{}).(string))
		return nil
	}
	o := xdb.NewOptions(xdb.WithPrepare(plain("a"), plain("b")), xdb.WithPrepare(withContext),
		xdb.WithPrepare(plain("d")))
	ctx := context.WithValue(t.Context(), key{}, "c")
	for _, prepare := range o.Prepare {
		if err := prepare(ctx, nil); err != nil {
			t.Error(err)
		}
	}
	if got := strings.Join(order, ""); got != "abcd" {
		t.Errorf("order = %q, want abcd", got)
	}
}

type key struct{}

func TestWithAutoMigrate(t *testing.T) {
	type a struct{ ID int }
	type b struct{ ID int }
	o := xdb.NewOptions(xdb.WithAutoMigrate(&a{}), xdb.WithAutoMigrate(&b{}, &a{}))
	if len(o.AutoMigrate) != 3 {
		t.Errorf("entities = %d, want 3", len(o.AutoMigrate))
	}
	second := xdb.NewOptions(xdb.WithAutoMigrate(&a{}))
	if len(second.AutoMigrate) != 1 {
		t.Errorf("entities = %d, want 1", len(second.AutoMigrate))
	}
}

func TestWithReplicas(t *testing.T) {
	clearEnv(t)
	o := xdb.NewOptions(xdb.WithReplicas("a", "b"), xdb.WithReplicas(), xdb.WithReplicas("secret"))
	if got := o.Replicas; len(got) != 3 || got[2].Reveal() != "secret" ||
		strings.Contains(fmt.Sprint(o), "secret") {
		t.Errorf("replicas = %v, want three masked DSNs", got)
	}
	if o.Enabled() {
		t.Error("Enabled = true for replicas only")
	}
	_, err := xdb.Resolve(xdb.NewOptions(xdb.WithReplicas("a"), xdb.WithDialector(dialector{})))
	if err == nil || !strings.Contains(err.Error(), "Replicas need a Driver") {
		t.Errorf("Resolve = %v, want an error about the dialector", err)
	}
}

func TestWithMigrations(t *testing.T) {
	clearEnv(t)
	files := func(name string) fs.FS { return fstest.MapFS{name: &fstest.MapFile{}} }
	o := xdb.NewOptions(
		xdb.WithDialector(dialector{}), xdb.WithMigrations(files("0001_a.sql")),
		xdb.WithMigrations(files("2_b.sql")),
	)
	if _, err := xdb.Resolve(o); len(o.Migrations) != 2 || err != nil {
		t.Errorf("sets = %d, %v; want 2", len(o.Migrations), err)
	}
	o = xdb.NewOptions(xdb.WithDialector(dialector{}), xdb.WithMigrations(files("users.sql")))
	if _, err := xdb.Resolve(o); err == nil ||
		!strings.Contains(err.Error(), "migration users.sql") {
		t.Errorf("Resolve = %v, want the name of the file", err)
	}
}

func TestWithRegistry(t *testing.T) {
	var r xdb.Registry
	o := xdb.NewOptions(xdb.WithRegistry(&r), xdb.WithDriver("bare", "dsn"))
	if _, err := xdb.Resolve(o); !errors.Is(err, xdb.ErrUnknownDriver) {
		t.Errorf("Resolve = %v, want ErrUnknownDriver", err)
	}
	if _, err := xdb.Open(t.Context(), o); !errors.Is(err, xdb.ErrUnknownDriver) {
		t.Errorf("Open = %v, want ErrUnknownDriver", err)
	}
	r.Register(bare{})
	if _, err := xdb.Resolve(o); err != nil {
		t.Errorf("Resolve = %v, want the driver of the registry", err)
	}
}

// bare is a driver without optional interfaces.
type bare struct{}

func (bare) Name() string { return "bare" }

func (bare) DSN(driver.Config) (string, error) { return "", nil }

func (bare) InterfaceVersion() int { return 1 }

func (bare) Advice(driver.Config) []string { return nil }

func (bare) Describe(string) string { return "" }

func (bare) Dialector(string) gorm.Dialector { return dialector{} }

func (bare) ErrorKind(error) driver.ErrorKind { return driver.Unknown }

// clocked is a driver with a clock.
type clocked struct {
	bare
	driver.Clock
}

func (clocked) Name() string { return "clocked" }

func TestDatabase_SupportsLeases(t *testing.T) {
	clearEnv(t)
	var r xdb.Registry
	r.Register(bare{})
	r.Register(clocked{})
	for name, want := range map[string]bool{"bare": false, "clocked": true} {
		d, err := r.Resolve(xdb.Options{Driver: name, DSN: "dsn"})
		if err != nil || d.SupportsLeases() != want {
			t.Errorf("SupportsLeases of %s = %t, %v; want %t", name, d.SupportsLeases(), err, want)
		}
	}
	if d, err := r.Resolve(xdb.Options{Dialector: dialector{}}); err != nil || d.SupportsLeases() {
		t.Errorf("SupportsLeases = true with a dialector, or Resolve failed: %v", err)
	}
}

func TestDatabase_Setup(t *testing.T) {
	prepared := 0
	d, err := xdb.Resolve(xdb.NewOptions(
		xdb.WithDialector(tests.DummyDialector{}),
		xdb.WithPrepare(func(*gorm.DB) error { prepared++; return nil }),
	))
	if err != nil || !d.HasSchema() {
		t.Fatalf("HasSchema = %t, %v; want true", d.HasSchema(), err)
	}
	db, err := gorm.Open(tests.DummyDialector{}, &gorm.Config{DisableAutomaticPing: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Setup(t.Context(), db); err != nil || prepared != 1 {
		t.Errorf("Setup = %v, prepared %d times; want once", err, prepared)
	}
	if d, err := xdb.Resolve(xdb.Options{Dialector: tests.DummyDialector{}}); err != nil ||
		d.HasSchema() {
		t.Errorf("HasSchema = true for empty options, or Resolve failed: %v", err)
	}
}

// countingDriver counts calls of DSN.
type countingDriver struct {
	bare
	dsnCalls *int
}

func (c countingDriver) DSN(driver.Config) (string, error) { *c.dsnCalls++; return "dsn", nil }

func ExampleResolve() {
	type user struct{ ID int64 }
	d, err := xdb.Resolve(xdb.NewOptions(
		xdb.WithDialector(tests.DummyDialector{}), // applications name a driver, or use FromEnv
		xdb.WithAutoMigrate(&user{}),
		xdb.WithPrepare(func(db *gorm.DB) error { return db.FirstOrCreate(&user{ID: 1}).Error }),
		xdb.WithSlowThreshold(200),
	))
	fmt.Println(d, d.HasSchema(), err)
	// Output: dummy true <nil>
}
