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

	xLog "github.com/plinthgo/plinth/core/common/xlog"
	xEnv "github.com/plinthgo/plinth/core/defined/xenv"
	xDB "github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
	xOptDatabase "github.com/plinthgo/plinth/core/major/xoption/xoptdatabase"
)

// clear unsets every variable of the database for the test.
func clearEnv(t *testing.T) {
	t.Helper()
	for _, v := range xEnv.Table() {
		if strings.HasPrefix(v.Key.String(), "DATABASE_") {
			t.Setenv(v.Key.String(), "")
		}
	}
}

func build(t *testing.T, opts ...xOptDatabase.Option) *xOptDatabase.Config {
	t.Helper()
	c, err := xOptDatabase.Build(opts...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestWithoutADriverThereIsNoDatabase(t *testing.T) {
	clearEnv(t)
	for _, name := range []string{"", "none"} {
		t.Setenv(xEnv.DatabaseDriver.String(), name)
		c := build(t, xOptDatabase.FromEnv())
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
	c := build(t, xOptDatabase.FromEnv())
	for name, value := range map[xEnv.EnvKey]string{
		xEnv.DatabaseDriver: "postgres", xEnv.DatabaseHost: "h", xEnv.DatabasePort: "5433", xEnv.DatabaseUser: "u",
		xEnv.DatabasePass: "p", xEnv.DatabaseName: "n", xEnv.DatabasePrefix: "app_", xEnv.DatabaseSingularTables: "true", xEnv.DatabasePath: "x.db",
		xEnv.DatabaseServiceName: "s", xEnv.DatabaseLibDir: "l", xEnv.DatabaseMaxOpenConns: "7",
		xEnv.DatabaseMaxIdleConns: "0", xEnv.DatabaseConnMaxLifetime: "1m", xEnv.DatabaseConnMaxIdleTime: "2m",
		xEnv.DatabaseConnectTimeout: "0", xEnv.DatabaseSlowThreshold: "350",
	} {
		t.Setenv(name.String(), value)
	}
	got := c.Options()
	want := xDB.Options{
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
	t.Setenv(xEnv.DatabaseDriver.String(), "postgres")
	t.Setenv(xEnv.DatabaseMaxOpenConns.String(), "7")
	t.Setenv(xEnv.DatabaseDsn.String(), "from the environment")
	before := build(t, xOptDatabase.WithMaxOpenConns(3), xOptDatabase.WithTablePrefix("kept_"), xOptDatabase.FromEnv()).Options()
	if before.MaxOpenConns != 7 || before.TablePrefix != "kept_" || before.DSN.Reveal() != "from the environment" {
		t.Errorf("options before FromEnv = %+v, want the environment's where it is set", before)
	}
	after := build(t, xOptDatabase.FromEnv(), xOptDatabase.WithMaxOpenConns(3), xOptDatabase.WithDriver("mysql", "mine")).Options()
	if after.MaxOpenConns != 3 || after.Driver != "mysql" || after.DSN.Reveal() != "mine" {
		t.Errorf("options after FromEnv = %+v, want them to win", after)
	}
}

func TestWithSingularTables(t *testing.T) {
	clearEnv(t)
	if o := build(t, xOptDatabase.WithSingularTables(), xOptDatabase.FromEnv()).Options(); !o.SingularTables {
		t.Error("FromEnv without the variable has changed the option")
	}
	t.Setenv(xEnv.DatabaseSingularTables.String(), "false")
	if o := build(t, xOptDatabase.WithSingularTables(), xOptDatabase.FromEnv()).Options(); o.SingularTables {
		t.Error("DATABASE_SINGULAR_TABLES=false does not win")
	}
}

func TestZeroIsNone(t *testing.T) {
	o := build(
		t, xOptDatabase.WithMaxOpenConns(0), xOptDatabase.WithMaxIdleConns(0), xOptDatabase.WithConnMaxLifetime(0),
		xOptDatabase.WithConnMaxIdleTime(0), xOptDatabase.WithConnectTimeout(0), xOptDatabase.WithSlowThreshold(0), xOptDatabase.WithAcquireTimeout(0),
	).Options()
	if o.MaxOpenConns != -1 || o.MaxIdleConns != -1 || o.ConnMaxLifetime != -1 || o.ConnMaxIdleTime != -1 ||
		o.ConnectTimeout != -1 || o.SlowThreshold != -1 || o.AcquireTimeout != -1 {
		t.Errorf("options = %+v, want -1 in every place", o)
	}
}

func TestSlowThresholdTakesNumbersAsMilliseconds(t *testing.T) {
	for _, tc := range []struct {
		name string
		opt  xOptDatabase.Option
		want time.Duration
	}{
		{name: "plain number", opt: xOptDatabase.WithSlowThreshold(200), want: 200 * time.Millisecond},
		{name: "int64", opt: xOptDatabase.WithSlowThreshold(int64(5)), want: 5 * time.Millisecond},
		{name: "duration", opt: xOptDatabase.WithSlowThreshold(3 * time.Second), want: 3 * time.Second},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := build(t, tc.opt).Options().SlowThreshold; got != tc.want {
				t.Errorf("threshold = %s, want %s", got, tc.want)
			}
		})
	}
}

func TestBuildReportsEverythingAtOnce(t *testing.T) {
	_, err := xOptDatabase.Build(
		nil,
		xOptDatabase.WithDialector(nil),
		xOptDatabase.WithAutoMigrate(nil),
		xOptDatabase.WithMigrations(nil),
		xOptDatabase.WithReplicas("file:a.db", " "),
		xOptDatabase.WithPrepare[func(*gorm.DB) error](nil),
		xOptDatabase.WithPrepare[func(context.Context, *gorm.DB) error](nil),
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
	t.Setenv(xEnv.DatabaseDriver.String(), "sqlserver")
	c, err := xOptDatabase.Build(xOptDatabase.FromEnv(), nil)
	if err == nil {
		t.Error("Build takes a nil option")
	}
	problems := c.Check(t.Context())
	if !errors.Is(problems, xDB.ErrUnknownDriver) || !strings.Contains(problems.Error(), "option 2 is nil") {
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
	c := build(t, xOptDatabase.FromEnv(), xOptDatabase.WithDialector(dialector{}))
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
	o := build(t, xOptDatabase.WithPrepare(plain("a"), plain("b")), xOptDatabase.WithPrepare(withContext), xOptDatabase.WithPrepare(plain("d"))).Options()
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
	o := build(t, xOptDatabase.WithAutoMigrate(&a{}), xOptDatabase.WithAutoMigrate(&b{}, &a{})).Options()
	if len(o.AutoMigrate) != 3 {
		t.Errorf("entities = %d, want 3", len(o.AutoMigrate))
	}
	again := build(t, xOptDatabase.WithAutoMigrate(&a{})).Options()
	if len(again.AutoMigrate) != 1 {
		t.Errorf("entities = %d, want 1", len(again.AutoMigrate))
	}
}

func TestReplicasMayBeRepeatedAndNeedADriver(t *testing.T) {
	clearEnv(t)
	c := build(t, xOptDatabase.WithReplicas("a", "b"), xOptDatabase.WithReplicas(), xOptDatabase.WithReplicas("secret"))
	if got := c.Options().Replicas; len(got) != 3 || got[2].Reveal() != "secret" || strings.Contains(fmt.Sprint(c.Options()), "secret") {
		t.Errorf("replicas = %v, want three that are not printed", got)
	}
	if c.Enabled() {
		t.Error("replicas alone are a database")
	}
	c = build(t, xOptDatabase.WithReplicas("a"), xOptDatabase.WithDialector(dialector{}))
	if err := c.Check(t.Context()); err == nil || !strings.Contains(err.Error(), "Replicas need a Driver") {
		t.Errorf("Check = %v, want a word about the dialector", err)
	}
}

func TestMigrationsMayBeRepeatedAndAreChecked(t *testing.T) {
	clearEnv(t)
	files := func(name string) fs.FS { return fstest.MapFS{name: &fstest.MapFile{}} }
	c := build(
		t, xOptDatabase.WithDialector(dialector{}), xOptDatabase.WithMigrations(files("0001_a.sql")),
		xOptDatabase.WithMigrations(files("2_b.sql")),
	)
	if got := len(c.Options().Migrations); got != 2 || c.Check(t.Context()) != nil {
		t.Errorf("sets = %d, %v; want 2", got, c.Check(t.Context()))
	}
	c = build(t, xOptDatabase.WithDialector(dialector{}), xOptDatabase.WithMigrations(files("users.sql")))
	if err := c.Check(t.Context()); err == nil || !strings.Contains(err.Error(), "migration users.sql") {
		t.Errorf("Check = %v, want the name of the file", err)
	}
}

func TestOtherOptionsReachTheDatabase(t *testing.T) {
	log := xLog.WithName("MINE")
	parts := driver.Config{Host: "h"}
	o := build(
		t, xOptDatabase.WithDSN("dropped by the parts"), xOptDatabase.WithParts(parts), xOptDatabase.WithLogger(log),
		xOptDatabase.WithSkipDefaultTransaction(), xOptDatabase.WithGorm(func(*gorm.Config) {}),
		xOptDatabase.WithConnectTimeout(time.Minute),
	).Options()
	if o.DSN != "" || o.Parts != parts || o.Log != log || !o.SkipDefaultTransaction || o.Gorm == nil || o.ConnectTimeout != time.Minute {
		t.Errorf("options = %+v", o)
	}
}

func TestWithRegistryFindsItsOwnDrivers(t *testing.T) {
	var r xDB.Registry
	c := build(t, xOptDatabase.WithRegistry(&r), xOptDatabase.WithDriver("mine", "dsn"))
	if err := c.Check(t.Context()); !errors.Is(err, xDB.ErrUnknownDriver) {
		t.Errorf("Check = %v, want ErrUnknownDriver", err)
	}
	if got := c.Describe(); got != "mine" {
		t.Errorf("Describe = %q, want mine", got)
	}
	if _, err := c.Open(t.Context()); !errors.Is(err, xDB.ErrUnknownDriver) {
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
	var r xDB.Registry
	r.Register(plain{})
	r.Register(clocked{})
	for name, want := range map[string]bool{"plain": false, "clocked": true, "unknown": false} {
		if got := build(t, xOptDatabase.WithRegistry(&r), xOptDatabase.WithDriver(name, "dsn")).KeepsLeases(); got != want {
			t.Errorf("KeepsLeases of %s = %t, want %t", name, got, want)
		}
	}
	if build(t, xOptDatabase.WithDialector(dialector{})).KeepsLeases() {
		t.Error("a dialector keeps leases")
	}
}

func TestBringUpRunsWhatThereIs(t *testing.T) {
	clearEnv(t)
	prepared := 0
	c := build(t, xOptDatabase.WithDialector(tests.DummyDialector{}), xOptDatabase.WithPrepare(func(*gorm.DB) error { prepared++; return nil }))
	db, err := gorm.Open(tests.DummyDialector{}, &gorm.Config{DisableAutomaticPing: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.BringUp(t.Context(), db); err != nil || prepared != 1 || !c.HasSchema() {
		t.Errorf("BringUp = %v, prepared %d times; want once", err, prepared)
	}
	if build(t, xOptDatabase.WithDialector(tests.DummyDialector{})).HasSchema() {
		t.Error("a database without entities, files and functions has a schema to bring up")
	}
}

func ExampleBuild() {
	type user struct{ ID int64 }
	config, err := xOptDatabase.Build(
		xOptDatabase.WithDriver("postgres", "postgres://app@localhost/app"),
		xOptDatabase.WithAutoMigrate(&user{}),
		xOptDatabase.WithPrepare(func(db *gorm.DB) error { return db.FirstOrCreate(&user{ID: 1}).Error }),
		xOptDatabase.WithSlowThreshold(200),
	)
	fmt.Println(config.Enabled(), config.Options().SlowThreshold, err)
	// Output: true 200ms <nil>
}
