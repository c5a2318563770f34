package xoption_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"gorm.io/gorm"
	"gorm.io/gorm/utils/tests"

	"github.com/plinthgo/plinth/core/common/xlease"
	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/internal/startup"
	"github.com/plinthgo/plinth/core/major/xcache"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xhelper"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xoption/xoptcache"
	"github.com/plinthgo/plinth/core/major/xoption/xoptdatabase"
)

// plan returns the plan that opts make.
func plan(opts ...xoption.Option) *startup.Plan {
	p := &startup.Plan{}
	xoption.WithOptions(opts...)(p)
	return p
}

// check runs the check of the only phase that has one.
func check(t *testing.T, p *startup.Plan) error {
	t.Helper()
	checks := slices.DeleteFunc(slices.Clone(p.Phases), func(phase startup.Phase) bool { return phase.Check == nil })
	if len(checks) != 1 {
		t.Fatalf("%d phases with a check, want one", len(checks))
	}
	return checks[0].Check(t.Context())
}

func TestOptionsOfADatabaseAddUpAndTheLaterWins(t *testing.T) {
	p := plan(
		xoption.WithDatabase(xoptdatabase.WithDriver("first", "")), xoption.WithDatabase(xoptdatabase.WithDriver("second", "")),
		xoption.WithDatabase(),
	)
	if err := p.Problems(); err != nil {
		t.Fatal(err)
	}
	if err := check(t, p); err == nil || !strings.Contains(err.Error(), `"second"`) || strings.Contains(err.Error(), `"first"`) {
		t.Errorf("Check = %v, want the second driver named", err)
	}
}

func TestOptionsOfACacheAddUpAndTheLaterWins(t *testing.T) {
	p := plan(
		xoption.WithCache(), xoption.WithCache(xoptcache.WithDriver("first")), xoption.WithCache(xoptcache.WithDriver("second")),
	)
	if err := p.Problems(); err != nil {
		t.Fatal(err)
	}
	if err := check(t, p); err == nil || !strings.Contains(err.Error(), `"second"`) || strings.Contains(err.Error(), `"first"`) {
		t.Errorf("Check = %v, want the second driver named", err)
	}
}

func TestDriverNoneStartsNothing(t *testing.T) {
	t.Setenv("DATABASE_DRIVER", "none")
	t.Setenv("NOSQL_DRIVER", "none")
	p := plan(xoption.WithDatabase(xoptdatabase.FromEnv()), xoption.WithCache(xoptcache.FromEnv()))
	for _, phase := range p.Phases {
		if phase.Enabled() {
			t.Errorf("%s is enabled", phase.Name)
		}
		if phase.Check == nil {
			continue
		}
		if err := phase.Check(t.Context()); err != nil {
			t.Errorf("%s: Check = %v, want nil", phase.Name, err)
		}
	}
}

func TestEnvironmentIsReadWhenThePhaseRuns(t *testing.T) {
	t.Setenv("DATABASE_DRIVER", "none")
	p := plan(xoption.WithDatabase(xoptdatabase.FromEnv()))
	t.Setenv("DATABASE_DRIVER", "later")
	if err := check(t, p); err == nil || !strings.Contains(err.Error(), `"later"`) {
		t.Errorf("Check = %v, want the driver of the later environment", err)
	}
}

func TestNilOptionOfAPhaseIsSkipped(t *testing.T) {
	for _, p := range []*startup.Plan{plan(xoption.WithDatabase(nil)), plan(xoption.WithCache(nil))} {
		if err := check(t, p); p.Phases[0].Enabled() || err != nil {
			t.Errorf("%s: enabled %t, Check = %v; want nothing to open", p.Phases[0].Name, p.Phases[0].Enabled(), err)
		}
	}
}

func TestOptionsOfAPhaseAreEvaluatedOnce(t *testing.T) {
	var database, cache int
	p := plan(
		xoption.WithDatabase(xoptdatabase.WithDialector(tests.DummyDialector{}), func(*xdb.Options) { database++ }),
		xoption.WithCache(func(*xcache.Options) { cache++ }),
	)
	for _, phase := range p.Phases {
		_ = phase.Enabled()
		if phase.Check == nil {
			continue
		}
		if err := phase.Check(t.Context()); err != nil {
			t.Errorf("%s: Check = %v", phase.Name, err)
		}
		_ = phase.Enabled()
	}
	if database != 1 || cache != 1 {
		t.Errorf("options ran %d and %d times, want once each", database, cache)
	}
}

func TestSchemaIsAPhaseOfItsOwnWhereThereIsOne(t *testing.T) {
	p := plan(xoption.WithDatabase(xoptdatabase.WithDialector(tests.DummyDialector{})))
	open, schema := p.Phases[0], p.Phases[1]
	if open.Rank != startup.RankDatabase || schema.Rank != startup.RankSchema || !open.Enabled() || schema.Enabled() {
		t.Errorf("phases = %s %d, %s %d; want a database and nothing to migrate", open.Name, open.Rank, schema.Name, schema.Rank)
	}
	xoption.WithDatabase(xoptdatabase.WithPrepare(func(*gorm.DB) error { return nil }))(p)
	if !schema.Enabled() || len(p.Phases) != 2 {
		t.Errorf("the schema of a database with a Prepare function starts: %t, %d phases; want true, 2", schema.Enabled(), len(p.Phases))
	}
}

func TestDriverThatIsToKeepTheLeasesAndCannotIsAProblem(t *testing.T) {
	database := xoption.WithDatabase(xoptdatabase.WithDialector(tests.DummyDialector{}))
	t.Setenv("LEASE_BACKEND", "database")
	if err := check(t, plan(database)); err == nil || !strings.HasPrefix(err.Error(), `LEASE_BACKEND: "database" cannot be`) {
		t.Errorf("Check = %v, want the variable named", err)
	}
	inProcess := xoption.WithLeases(func(context.Context) (*xlease.Leases, error) { return xlease.New(xlease.InProcess(nil)), nil })
	if err := check(t, plan(database, inProcess)); err != nil {
		t.Errorf("Check with leases of the application's own = %v, want nil", err)
	}
	t.Setenv("LEASE_BACKEND", "auto")
	if err := check(t, plan(database)); err != nil {
		t.Errorf("Check = %v, want nil", err)
	}
}

func TestNilFunctionsAreProblems(t *testing.T) {
	p := plan(xoption.WithRoute(nil), xoption.WithEngine(nil), xoption.WithServe(nil), xoption.WithServer(nil),
		xoption.WithLogConfig(nil), xoption.WithLogger(nil), xoption.WithListener(nil), xoption.WithLeases(nil))
	if n := strings.Count(p.Problems().Error(), "is nil"); n != 8 {
		t.Errorf("Problems = %v, want 8", p.Problems())
	}
}

func TestOptionsCollectInTheirOrder(t *testing.T) {
	p := plan(
		xoption.WithEnvFile("a"), xoption.WithEnvFile("b", "c"), xoption.WithSnowflake(xsnowflake.WithNodeID(1)),
		xoption.WithEnvDefaults(map[xenv.EnvKey]string{xenv.Port: "1", xenv.Host: "h"}),
		xoption.WithEnvDefaults(map[xenv.EnvKey]string{xenv.Port: "2"}),
		xoption.WithOptions(xoption.WithRoute(func(context.Context, *gin.Engine) {}), nil, xoption.WithHealth()),
		xoption.WithDrainDelay(time.Second), nil,
	)
	if strings.Join(p.EnvFiles, "") != "abc" || len(p.Snowflake) != 1 || len(p.Routes) != 1 || len(p.Settings) != 1 {
		t.Errorf("plan = %+v", p)
	}
	if p.EnvDefaults[xenv.Port] != "2" || p.EnvDefaults[xenv.Host] != "h" {
		t.Errorf("defaults = %v, want the later port", p.EnvDefaults)
	}
	if *p.Health != (startup.Health{LivePath: "/healthz", ReadyPath: "/readyz"}) {
		t.Errorf("health = %+v", p.Health)
	}
}

// served returns the configuration of the request middleware that opt makes.
func served(opt xoption.Option) (c xhelper.Config) {
	var settings startup.Settings
	for _, change := range plan(opt).Settings {
		change(&settings)
	}
	for _, change := range settings.Serve {
		change(&c)
	}
	return c
}

func TestLimitsOfRequests(t *testing.T) {
	for d, want := range map[time.Duration]time.Duration{0: -1, time.Second: time.Second} {
		if got := served(xoption.WithRequestTimeout(d)).RequestTimeout; got != want {
			t.Errorf("WithRequestTimeout(%s) = %s, want %s", d, got, want)
		}
	}
	for n, want := range map[int64]int64{0: -1, 7: 7} {
		if got := served(xoption.WithMaxBodyBytes(n)).MaxBodyBytes; got != want {
			t.Errorf("WithMaxBodyBytes(%d) = %d, want %d", n, got, want)
		}
	}
	for name, opt := range map[string]xoption.Option{"WithRequestTimeout": xoption.WithRequestTimeout(-1), "WithMaxBodyBytes": xoption.WithMaxBodyBytes(-1)} {
		if err := plan(opt).Problems(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s of a negative value = %v, want a problem", name, err)
		}
	}
}
