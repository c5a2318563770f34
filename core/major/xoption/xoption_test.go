package xoption_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"gorm.io/gorm"
	"gorm.io/gorm/utils/tests"

	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xhelper"
	"github.com/plinthgo/plinth/core/major/xlease"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xoption/xoptcache"
	"github.com/plinthgo/plinth/core/major/xoption/xoptdatabase"
)

// check runs the check of the only phase that has one.
func check(t *testing.T, p *xoption.Plan) error {
	t.Helper()
	checks := slices.DeleteFunc(slices.Clone(p.Phases), func(phase xoption.Phase) bool { return phase.Check == nil })
	if len(checks) != 1 {
		t.Fatalf("%d phases with a check, want one", len(checks))
	}
	return checks[0].Check(t.Context())
}

func TestOptionsOfADatabaseAddUpAndTheLaterWins(t *testing.T) {
	p := xoption.New(
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
	p := xoption.New(
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
	p := xoption.New(xoption.WithDatabase(xoptdatabase.FromEnv()), xoption.WithCache(xoptcache.FromEnv()))
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
	p := xoption.New(xoption.WithDatabase(xoptdatabase.FromEnv()))
	t.Setenv("DATABASE_DRIVER", "later")
	if err := check(t, p); err == nil || !strings.Contains(err.Error(), `"later"`) {
		t.Errorf("Check = %v, want the driver of the later environment", err)
	}
}

func TestNilOptionOfAPhaseIsReportedByItsCheck(t *testing.T) {
	for _, p := range []*xoption.Plan{xoption.New(xoption.WithDatabase(nil)), xoption.New(xoption.WithCache(nil))} {
		if !p.Phases[0].Enabled() || check(t, p) == nil {
			t.Errorf("%s: a nil option passes", p.Phases[0].Name)
		}
		if _, err := p.Phases[0].Start(t.Context()); err == nil {
			t.Errorf("%s: starts with a nil option", p.Phases[0].Name)
		}
	}
}

func TestPhaseTwiceOrWithoutStartIsAProblem(t *testing.T) {
	phase := xoption.Phase{Name: "mine", Key: "mine", Start: func(context.Context) (any, error) { return nil, nil }}
	p := xoption.New(xoption.WithPhase(phase), xoption.WithPhase(phase), xoption.WithPhase(xoption.Phase{Name: "empty", Key: "e"}))
	if err := p.Problems(); err == nil || err.Error() != "xoption: mine is configured twice\nxoption: phase \"empty\" has no Start" {
		t.Errorf("Problems = %v", err)
	}
	if len(p.Phases) != 1 || !p.Has("mine") || p.Has("e") {
		t.Errorf("phases = %v, want mine once", p.Phases)
	}
	phase.Key = xctx.Exec
	p = xoption.New(xoption.WithPhase(phase), xoption.WithPhase(phase))
	if err := p.Problems(); err != nil || len(p.Phases) != 2 {
		t.Errorf("two phases without a value = %d, %v; want both", len(p.Phases), err)
	}
}

func TestSchemaIsAPhaseOfItsOwnWhereThereIsOne(t *testing.T) {
	p := xoption.New(xoption.WithDatabase(xoptdatabase.WithDriver("d", "dsn")))
	open, schema := p.Phases[0], p.Phases[1]
	if open.Rank != xoption.RankDatabase || schema.Rank != xoption.RankSchema || !open.Enabled() || schema.Enabled() {
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
	if err := check(t, xoption.New(database)); err == nil || !strings.HasPrefix(err.Error(), `LEASE_BACKEND: "database" cannot be`) {
		t.Errorf("Check = %v, want the variable named", err)
	}
	inProcess := xoption.WithLeases(func(context.Context) (*xlease.Leases, error) { return xlease.New(xlease.InProcess(nil)), nil })
	if err := check(t, xoption.New(database, inProcess)); err != nil {
		t.Errorf("Check with leases of the application's own = %v, want nil", err)
	}
	t.Setenv("LEASE_BACKEND", "auto")
	if err := check(t, xoption.New(database)); err != nil {
		t.Errorf("Check = %v, want nil", err)
	}
}

func TestNilFunctionsAreProblems(t *testing.T) {
	p := xoption.New(xoption.WithRoute(nil), xoption.WithEngine(nil), xoption.WithServe(nil), xoption.WithServer(nil),
		xoption.WithLogConfig(nil), xoption.WithLogger(nil), xoption.WithListener(nil), xoption.WithLeases(nil))
	if n := strings.Count(p.Problems().Error(), "is nil"); n != 8 {
		t.Errorf("Problems = %v, want 8", p.Problems())
	}
}

func TestProxies(t *testing.T) {
	for text, want := range map[string]bool{
		"10.0.0.0/8": true, "192.0.2.7": true, "::1": true, "fd00::/8": true,
		"": false, "example.org": false, "10.0.0.0/33": false, "fe80::1%eth0": false, "10.0.0.0/8,": false,
	} {
		if got := xoption.ValidProxy(text); got != want {
			t.Errorf("ValidProxy(%q) = %t, want %t", text, got, want)
		}
	}
}

func TestOptionsCollectInTheirOrder(t *testing.T) {
	p := xoption.New(
		xoption.WithEnvFile("a"), xoption.WithEnvFile("b", "c"), xoption.WithSnowflake(xsnowflake.WithNodeID(1)),
		xoption.WithEnvDefaults(map[xenv.EnvKey]string{xenv.Port: "1", xenv.Host: "h"}),
		xoption.WithEnvDefaults(map[xenv.EnvKey]string{xenv.Port: "2"}),
		xoption.WithOptions(xoption.WithRoute(func(context.Context, *gin.Engine) {}), nil, xoption.WithHealth()),
		xoption.WithDrainDelay(time.Second), nil,
	)
	if strings.Join(p.EnvFiles, "") != "abc" || len(p.Snowflake) != 1 || len(p.Routes) != 1 || *p.DrainDelay != time.Second {
		t.Errorf("plan = %+v", p)
	}
	if p.EnvDefaults[xenv.Port] != "2" || p.EnvDefaults[xenv.Host] != "h" {
		t.Errorf("defaults = %v, want the later port", p.EnvDefaults)
	}
	if *p.Health != (xoption.Health{LivePath: "/healthz", ReadyPath: "/readyz"}) {
		t.Errorf("health = %+v", p.Health)
	}
}

func TestWithRequestTimeout(t *testing.T) {
	t.Run("0 is no limit", func(t *testing.T) {
		for d, want := range map[time.Duration]time.Duration{0: -1, time.Second: time.Second} {
			var c xhelper.Config
			for _, change := range xoption.New(xoption.WithRequestTimeout(d)).Serve {
				change(&c)
			}
			if c.RequestTimeout != want {
				t.Errorf("WithRequestTimeout(%s) = %s, want %s", d, c.RequestTimeout, want)
			}
		}
	})
	t.Run("routes add up", func(t *testing.T) {
		p := xoption.New(xoption.WithRouteRequestTimeout("/a", time.Second), xoption.WithRouteRequestTimeout("/b", 0))
		var c xhelper.Config
		for _, change := range p.Serve {
			change(&c)
		}
		want := map[string]time.Duration{"/a": time.Second, "/b": 0}
		if !maps.Equal(c.RouteRequestTimeout, want) {
			t.Errorf("timeouts = %v, want %v", c.RouteRequestTimeout, want)
		}
	})
	t.Run("a negative timeout is a problem", func(t *testing.T) {
		for _, opt := range []xoption.Option{xoption.WithRequestTimeout(-1), xoption.WithRouteRequestTimeout("/a", -1)} {
			if xoption.New(opt).Problems() == nil {
				t.Error("a negative timeout was accepted")
			}
		}
	})
}

func TestMaxBodyBytes0IsNoLimit(t *testing.T) {
	for n, want := range map[int64]int64{0: -1, 7: 7} {
		var c xhelper.Config
		for _, change := range xoption.New(xoption.WithMaxBodyBytes(n)).Serve {
			change(&c)
		}
		if c.MaxBodyBytes != want {
			t.Errorf("WithMaxBodyBytes(%d) = %d, want %d", n, c.MaxBodyBytes, want)
		}
	}
}

func ExampleWithPhase() {
	// An extension offers an option of its own.
	withSearch := func(address string) xoption.Option {
		return xoption.WithPhase(xoption.Phase{
			Name: "search", Key: xctx.ContextKey("search"), Rank: xoption.RankCache + 1,
			Check: func(context.Context) error {
				if address == "" {
					return errors.New("search: no address")
				}
				return nil
			},
			Start: func(context.Context) (any, error) { return "client of " + address, nil },
		})
	}
	_ = xoption.New(withSearch("search:9200"))
	// Output:
}
