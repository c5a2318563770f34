package xoption_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	xSnowflake "github.com/plinthgo/plinth/core/common/xsnowflake"
	xCtx "github.com/plinthgo/plinth/core/defined/xctx"
	xEnv "github.com/plinthgo/plinth/core/defined/xenv"
	xHelper "github.com/plinthgo/plinth/core/major/xhelper"
	xOption "github.com/plinthgo/plinth/core/major/xoption"
	xOptCache "github.com/plinthgo/plinth/core/major/xoption/xoptcache"
	xOptDatabase "github.com/plinthgo/plinth/core/major/xoption/xoptdatabase"
)

// check runs the check of the only phase.
func check(t *testing.T, p *xOption.Plan) error {
	t.Helper()
	if len(p.Phases) != 1 {
		t.Fatalf("%d phases, want one", len(p.Phases))
	}
	return p.Phases[0].Check(t.Context())
}

func TestOptionsOfADatabaseAddUpAndTheLaterWins(t *testing.T) {
	p := xOption.New(
		xOption.WithDatabase(xOptDatabase.WithDriver("first", "")), xOption.WithDatabase(xOptDatabase.WithDriver("second", "")),
		xOption.WithDatabase(),
	)
	if err := p.Problems(); err != nil {
		t.Fatal(err)
	}
	if err := check(t, p); err == nil || !strings.Contains(err.Error(), `"second"`) || strings.Contains(err.Error(), `"first"`) {
		t.Errorf("Check = %v, want the second driver named", err)
	}
}

func TestOptionsOfACacheAddUpAndTheLaterWins(t *testing.T) {
	p := xOption.New(
		xOption.WithCache(), xOption.WithCache(xOptCache.WithDriver("first")), xOption.WithCache(xOptCache.WithDriver("second")),
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
	p := xOption.New(xOption.WithDatabase(xOptDatabase.FromEnv()), xOption.WithCache(xOptCache.FromEnv()))
	for _, phase := range p.Phases {
		if phase.Enabled() {
			t.Errorf("%s is enabled", phase.Name)
		}
		if err := phase.Check(t.Context()); err != nil {
			t.Errorf("%s: Check = %v, want nil", phase.Name, err)
		}
	}
}

func TestEnvironmentIsReadWhenThePhaseRuns(t *testing.T) {
	t.Setenv("DATABASE_DRIVER", "none")
	p := xOption.New(xOption.WithDatabase(xOptDatabase.FromEnv()))
	t.Setenv("DATABASE_DRIVER", "later")
	if err := check(t, p); err == nil || !strings.Contains(err.Error(), `"later"`) {
		t.Errorf("Check = %v, want the driver of the later environment", err)
	}
}

func TestNilOptionOfAPhaseIsReportedByItsCheck(t *testing.T) {
	for _, p := range []*xOption.Plan{xOption.New(xOption.WithDatabase(nil)), xOption.New(xOption.WithCache(nil))} {
		if !p.Phases[0].Enabled() || check(t, p) == nil {
			t.Errorf("%s: a nil option passes", p.Phases[0].Name)
		}
		if _, err := p.Phases[0].Start(t.Context()); err == nil {
			t.Errorf("%s: starts with a nil option", p.Phases[0].Name)
		}
	}
}

func TestPhaseTwiceOrWithoutStartIsAProblem(t *testing.T) {
	phase := xOption.Phase{Name: "mine", Key: "mine", Start: func(context.Context) (any, error) { return nil, nil }}
	p := xOption.New(xOption.WithPhase(phase), xOption.WithPhase(phase), xOption.WithPhase(xOption.Phase{Name: "empty", Key: "e"}))
	if err := p.Problems(); err == nil || err.Error() != "xoption: mine is configured twice\nxoption: phase \"empty\" has no Start" {
		t.Errorf("Problems = %v", err)
	}
	if len(p.Phases) != 1 || !p.Has("mine") || p.Has("e") {
		t.Errorf("phases = %v, want mine once", p.Phases)
	}
}

func TestNilFunctionsAreProblems(t *testing.T) {
	p := xOption.New(xOption.WithRoute(nil), xOption.WithEngine(nil), xOption.WithServe(nil), xOption.WithServer(nil),
		xOption.WithLogConfig(nil), xOption.WithLogger(nil), xOption.WithListener(nil))
	if n := strings.Count(p.Problems().Error(), "is nil"); n != 7 {
		t.Errorf("Problems = %v, want 7", p.Problems())
	}
}

func TestProxies(t *testing.T) {
	for text, want := range map[string]bool{
		"10.0.0.0/8": true, "192.0.2.7": true, "::1": true, "fd00::/8": true,
		"": false, "example.org": false, "10.0.0.0/33": false, "fe80::1%eth0": false, "10.0.0.0/8,": false,
	} {
		if got := xOption.ValidProxy(text); got != want {
			t.Errorf("ValidProxy(%q) = %t, want %t", text, got, want)
		}
	}
}

func TestOptionsCollectInTheirOrder(t *testing.T) {
	p := xOption.New(
		xOption.WithEnvFile("a"), xOption.WithEnvFile("b", "c"), xOption.WithSnowflake(xSnowflake.WithNodeID(1)),
		xOption.WithEnvDefaults(map[xEnv.EnvKey]string{xEnv.Port: "1", xEnv.Host: "h"}),
		xOption.WithEnvDefaults(map[xEnv.EnvKey]string{xEnv.Port: "2"}),
		xOption.WithOptions(xOption.WithRoute(func(context.Context, *gin.Engine) {}), nil, xOption.WithHealth()),
		xOption.WithDrainDelay(time.Second), nil,
	)
	if strings.Join(p.EnvFiles, "") != "abc" || len(p.Snowflake) != 1 || len(p.Routes) != 1 || *p.DrainDelay != time.Second {
		t.Errorf("plan = %+v", p)
	}
	if p.EnvDefaults[xEnv.Port] != "2" || p.EnvDefaults[xEnv.Host] != "h" {
		t.Errorf("defaults = %v, want the later port", p.EnvDefaults)
	}
	if *p.Health != (xOption.Health{LivePath: "/healthz", ReadyPath: "/readyz"}) {
		t.Errorf("health = %+v", p.Health)
	}
}

func TestMaxBodyBytes0IsNoLimit(t *testing.T) {
	for n, want := range map[int64]int64{0: -1, 7: 7} {
		var c xHelper.Config
		for _, change := range xOption.New(xOption.WithMaxBodyBytes(n)).Serve {
			change(&c)
		}
		if c.MaxBodyBytes != want {
			t.Errorf("WithMaxBodyBytes(%d) = %d, want %d", n, c.MaxBodyBytes, want)
		}
	}
}

func ExampleWithPhase() {
	// An extension offers an option of its own.
	withSearch := func(address string) xOption.Option {
		return xOption.WithPhase(xOption.Phase{
			Name: "search", Key: xCtx.ContextKey("search"), Rank: xOption.RankCache + 1,
			Check: func(context.Context) error {
				if address == "" {
					return errors.New("search: no address")
				}
				return nil
			},
			Start: func(context.Context) (any, error) { return "client of " + address, nil },
		})
	}
	_ = xOption.New(withSearch("search:9200"))
	// Output:
}
