package xoptdatabase_test

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
	"github.com/plinthgo/plinth/core/major/xoption/xoptdatabase"
)

// clear unsets every variable of the database for the test.
func clearEnv(t *testing.T) {
	t.Helper()
	for _, v := range xenv.Table() {
		if strings.HasPrefix(v.Key.String(), "DATABASE_") {
			t.Setenv(v.Key.String(), "")
		}
	}
}

func build(t *testing.T, opts ...xoptdatabase.Option) *xoptdatabase.Config {
	t.Helper()
	c, err := xoptdatabase.Build(opts...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestWithoutADriverThereIsNoDatabase(t *testing.T) {
	clearEnv(t)
	for _, name := range []string{"", "none"} {
		t.Setenv(xenv.DatabaseDriver.String(), name)
		c := build(t, xoptdatabase.FromEnv())
		if c.Enabled() {
			t.Errorf("DATABASE_DRIVER=%q is a database", name)
		}
		db, err := c.Open(t.Context())
		if db != nil || err != nil || c.Check(t.Context()) != nil || c.Describe() != "none" {
			t.Errorf("DATABASE_DRIVER=%q: %v, %v, %s", name, db, err, c.Describe())
		}
	}
}

func TestFromEnvReadsLazily(t *testing.T) {
	clearEnv(t)
	c := build(t, xoptdatabase.FromEnv())
	for name, value := range map[xenv.EnvKey]string{
		xenv.DatabaseDriver: "postgres", xenv.DatabaseHost: "h", xenv.DatabasePort: "5433", xenv.DatabaseUser: "u",
		xenv.DatabasePass: "p", xenv.DatabaseName: "n", xenv.DatabasePrefix: "app_", xenv.DatabaseSingularTables: "true", xenv.DatabasePath: "x.db",
		xenv.DatabaseServiceName: "s", xenv.DatabaseLibDir: "l", xenv.DatabaseMaxOpenConns: "7",
		xenv.DatabaseMaxIdleConns: "0", xenv.DatabaseConnMaxLifetime: "1m", xenv.DatabaseConnMaxIdleTime: "2m",
		xenv.DatabaseConnectTimeout: "0", xenv.DatabaseSlowThreshold: "350",
	} {
		t.Setenv(name.String(), value)
	}
	got := c.Options()
	want := xdb.Options{
		Driver: "postgres",
		Parts: driver.Config{
			Host: "h", Port: 5433, User: "u", Pass: "p", Name: "n", Path: "x.db",
			ServiceName: "s", LibDir: "l",
		},
		TablePrefix: "app_", SingularTables: true, MaxOpenConns: 7, MaxIdleConns: -1, ConnMaxLifetime: time.Minute, ConnMaxIdleTime: 2 * time.Minute,
		ConnectTimeout: -1, SlowThreshold: 350 * time.Millisecond,
	}
	if got.Parts != want.Parts || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("options\n got %+v\nwant %+v", got, want)
	}
}

func TestLaterOptionWins(t *testing.T) {
	clearEnv(t)
	t.Setenv(xenv.DatabaseDriver.String(), "postgres")
	t.Setenv(xenv.DatabaseMaxOpenConns.String(), "7")
	t.Setenv(xenv.DatabaseDsn.String(), "from the environment")
	before := build(t, xoptdatabase.WithMaxOpenConns(3), xoptdatabase.WithTablePrefix("kept_"), xoptdatabase.FromEnv()).Options()
	if before.MaxOpenConns != 7 || before.TablePrefix != "kept_" || before.DSN.Reveal() != "from the environment" {
		t.Errorf("options before FromEnv = %+v, want the environment's where it is set", before)
	}
	after := build(t, xoptdatabase.FromEnv(), xoptdatabase.WithMaxOpenConns(3), xoptdatabase.WithDriver("mysql", "mine")).Options()
	if after.MaxOpenConns != 3 || after.Driver != "mysql" || after.DSN.Reveal() != "mine" {
		t.Errorf("options after FromEnv = %+v, want them to win", after)
	}
}

func TestWithSingularTables(t *testing.T) {
	clearEnv(t)
	if o := build(t, xoptdatabase.WithSingularTables(), xoptdatabase.FromEnv()).Options(); !o.SingularTables {
		t.Error("FromEnv without the variable has changed the option")
	}
	t.Setenv(xenv.DatabaseSingularTables.String(), "false")
	if o := build(t, xoptdatabase.WithSingularTables(), xoptdatabase.FromEnv()).Options(); o.SingularTables {
		t.Error("DATABASE_SINGULAR_TABLES=false does not win")
	}
}

func TestZeroIsNone(t *testing.T) {
	o := build(
		t, xoptdatabase.WithMaxOpenConns(0), xoptdatabase.WithMaxIdleConns(0), xoptdatabase.WithConnMaxLifetime(0),
		xoptdatabase.WithConnMaxIdleTime(0), xoptdatabase.WithConnectTimeout(0), xoptdatabase.WithSlowThreshold(0), xoptdatabase.WithAcquireTimeout(0),
	).Options()
	if o.MaxOpenConns != -1 || o.MaxIdleConns != -1 || o.ConnMaxLifetime != -1 || o.ConnMaxIdleTime != -1 ||
		o.ConnectTimeout != -1 || o.SlowThreshold != -1 || o.AcquireTimeout != -1 {
		t.Errorf("options = %+v, want -1 in every place", o)
	}
}

func TestSlowThresholdTakesNumbersAsMilliseconds(t *testing.T) {
	for _, tc := range []struct {
		name string
		opt  xoptdatabase.Option
		want time.Duration
	}{
		{name: "plain number", opt: xoptdatabase.WithSlowThreshold(200), want: 200 * time.Millisecond},
		{name: "int64", opt: xoptdatabase.WithSlowThreshold(int64(5)), want: 5 * time.Millisecond},
		{name: "duration", opt: xoptdatabase.WithSlowThreshold(3 * time.Second), want: 3 * time.Second},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := build(t, tc.opt).Options().SlowThreshold; got != tc.want {
				t.Errorf("threshold = %s, want %s", got, tc.want)
			}
		})
	}
}

func TestBuildReportsEverythingAtOnce(t *testing.T) {
	_, err := xoptdatabase.Build(
		nil,
		xoptdatabase.WithDialector(nil),
		xoptdatabase.WithAutoMigrate(nil),
		xoptdatabase.WithMigrations(nil),
		xoptdatabase.WithReplicas("file:a.db", " "),
		xoptdatabase.WithPrepare[func(*gorm.DB) error](nil),
		xoptdatabase.WithPrepare[func(context.Context, *gorm.DB) error](nil),
	)
	if err == nil {
		t.Fatal("Build found nothing")
	}
	if got := strings.Count(err.Error(), "xoptdatabase: "); got != 7 {
		t.Errorf("problems = %d, want 7:\n%v", got, err)
	}
}

func TestCheckReportsWhatTheEnvironmentLacks(t *testing.T) {
	clearEnv(t)
	t.Setenv(xenv.DatabaseDriver.String(), "sqlserver")
	c, err := xoptdatabase.Build(xoptdatabase.FromEnv(), nil)
	if err == nil {
		t.Error("Build takes a nil option")
	}
	problems := c.Check(t.Context())
	if !errors.Is(problems, xdb.ErrUnknownDriver) || !strings.Contains(problems.Error(), "option 2 is nil") {
		t.Errorf("Check = %v, want both problems", problems)
	}
	if _, err := c.Open(t.Context()); err == nil {
		t.Error("Open works with a nil option")
	}
}

// dialector fails where it is initialized.
type dialector struct{ tests.DummyDialector }

var errDialector = errors.New("no database here")

func (dialector) Initialize(*gorm.DB) error { return errDialector }

func TestWithDialectorNeedsNoDriver(t *testing.T) {
	clearEnv(t)
	c := build(t, xoptdatabase.FromEnv(), xoptdatabase.WithDialector(dialector{}))
	if !c.Enabled() || c.Check(t.Context()) != nil || c.Describe() != "dummy" {
		t.Errorf("a dialector is no database: %v, %s", c.Check(t.Context()), c.Describe())
	}
	if _, err := c.Open(t.Context()); !errors.Is(err, errDialector) {
		t.Errorf("Open = %v, want the dialector's error", err)
	}
}

func TestPrepareTakesBothForms(t *testing.T) {
	var order []string
	plain := func(name string) func(*gorm.DB) error {
		return func(*gorm.DB) error { order = append(order, name); return nil }
	}
	withContext := func(ctx context.Context, _ *gorm.DB) error {
		order = append(order, ctx.Value(key{}).(string))
		return nil
	}
	o := build(t, xoptdatabase.WithPrepare(plain("a"), plain("b")), xoptdatabase.WithPrepare(withContext), xoptdatabase.WithPrepare(plain("d"))).Options()
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

func TestAutoMigrateMayBeRepeated(t *testing.T) {
	type a struct{ ID int }
	type b struct{ ID int }
	o := build(t, xoptdatabase.WithAutoMigrate(&a{}), xoptdatabase.WithAutoMigrate(&b{}, &a{})).Options()
	if len(o.AutoMigrate) != 3 {
		t.Errorf("entities = %d, want 3", len(o.AutoMigrate))
	}
	again := build(t, xoptdatabase.WithAutoMigrate(&a{})).Options()
	if len(again.AutoMigrate) != 1 {
		t.Errorf("entities = %d, want 1", len(again.AutoMigrate))
	}
}

func TestReplicasMayBeRepeatedAndNeedADriver(t *testing.T) {
	clearEnv(t)
	c := build(t, xoptdatabase.WithReplicas("a", "b"), xoptdatabase.WithReplicas(), xoptdatabase.WithReplicas("secret"))
	if got := c.Options().Replicas; len(got) != 3 || got[2].Reveal() != "secret" || strings.Contains(fmt.Sprint(c.Options()), "secret") {
		t.Errorf("replicas = %v, want three that are not printed", got)
	}
	if c.Enabled() {
		t.Error("replicas alone are a database")
	}
	c = build(t, xoptdatabase.WithReplicas("a"), xoptdatabase.WithDialector(dialector{}))
	if err := c.Check(t.Context()); err == nil || !strings.Contains(err.Error(), "Replicas need a Driver") {
		t.Errorf("Check = %v, want a word about the dialector", err)
	}
}

func TestMigrationsMayBeRepeatedAndAreChecked(t *testing.T) {
	clearEnv(t)
	files := func(name string) fs.FS { return fstest.MapFS{name: &fstest.MapFile{}} }
	c := build(
		t, xoptdatabase.WithDialector(dialector{}), xoptdatabase.WithMigrations(files("0001_a.sql")),
		xoptdatabase.WithMigrations(files("2_b.sql")),
	)
	if got := len(c.Options().Migrations); got != 2 || c.Check(t.Context()) != nil {
		t.Errorf("sets = %d, %v; want 2", got, c.Check(t.Context()))
	}
	c = build(t, xoptdatabase.WithDialector(dialector{}), xoptdatabase.WithMigrations(files("users.sql")))
	if err := c.Check(t.Context()); err == nil || !strings.Contains(err.Error(), "migration users.sql") {
		t.Errorf("Check = %v, want the name of the file", err)
	}
}

func TestOtherOptionsReachTheDatabase(t *testing.T) {
	log := xlog.WithName("MINE")
	parts := driver.Config{Host: "h"}
	o := build(
		t, xoptdatabase.WithDSN("dropped by the parts"), xoptdatabase.WithParts(parts), xoptdatabase.WithLogger(log),
		xoptdatabase.WithSkipDefaultTransaction(), xoptdatabase.WithGorm(func(*gorm.Config) {}),
		xoptdatabase.WithConnectTimeout(time.Minute),
	).Options()
	if o.DSN != "" || o.Parts != parts || o.Log != log || !o.SkipDefaultTransaction || o.Gorm == nil || o.ConnectTimeout != time.Minute {
		t.Errorf("options = %+v", o)
	}
}

func TestWithRegistryFindsItsOwnDrivers(t *testing.T) {
	var r xdb.Registry
	c := build(t, xoptdatabase.WithRegistry(&r), xoptdatabase.WithDriver("mine", "dsn"))
	if err := c.Check(t.Context()); !errors.Is(err, xdb.ErrUnknownDriver) {
		t.Errorf("Check = %v, want ErrUnknownDriver", err)
	}
	if got := c.Describe(); got != "mine" {
		t.Errorf("Describe = %q, want mine", got)
	}
	if _, err := c.Open(t.Context()); !errors.Is(err, xdb.ErrUnknownDriver) {
		t.Errorf("Open = %v, want ErrUnknownDriver", err)
	}
}

// plain is a driver that can do nothing by the way.
type plain struct{}

func (plain) Name() string { return "plain" }

func (plain) DSN(driver.Config) (string, error) { return "", nil }

func (plain) Dialector(string) gorm.Dialector { return dialector{} }

func (plain) ErrorKind(error) driver.ErrorKind { return driver.Unknown }

// clocked is one whose database keeps leases.
type clocked struct {
	plain
	driver.Clock
}

func (clocked) Name() string { return "clocked" }

func TestKeepsLeasesWhereTheDriverHasAClock(t *testing.T) {
	clearEnv(t)
	var r xdb.Registry
	r.Register(plain{})
	r.Register(clocked{})
	for name, want := range map[string]bool{"plain": false, "clocked": true, "unknown": false} {
		if got := build(t, xoptdatabase.WithRegistry(&r), xoptdatabase.WithDriver(name, "dsn")).KeepsLeases(); got != want {
			t.Errorf("KeepsLeases of %s = %t, want %t", name, got, want)
		}
	}
	if build(t, xoptdatabase.WithDialector(dialector{})).KeepsLeases() {
		t.Error("a dialector keeps leases")
	}
}

func TestConfig_Setup(t *testing.T) {
	clearEnv(t)
	prepared := 0
	c := build(t, xoptdatabase.WithDialector(tests.DummyDialector{}), xoptdatabase.WithPrepare(func(*gorm.DB) error { prepared++; return nil }))
	db, err := gorm.Open(tests.DummyDialector{}, &gorm.Config{DisableAutomaticPing: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Setup(t.Context(), db); err != nil || prepared != 1 || !c.HasSchema() {
		t.Errorf("Setup = %v, prepared %d times; want once", err, prepared)
	}
	if build(t, xoptdatabase.WithDialector(tests.DummyDialector{})).HasSchema() {
		t.Error("a database without entities, files and functions has a schema to bring up")
	}
}

func ExampleBuild() {
	type user struct{ ID int64 }
	config, err := xoptdatabase.Build(
		xoptdatabase.WithDriver("postgres", "postgres://app@localhost/app"),
		xoptdatabase.WithAutoMigrate(&user{}),
		xoptdatabase.WithPrepare(func(db *gorm.DB) error { return db.FirstOrCreate(&user{ID: 1}).Error }),
		xoptdatabase.WithSlowThreshold(200),
	)
	fmt.Println(config.Enabled(), config.Options().SlowThreshold, err)
	// Output: true 200ms <nil>
}
