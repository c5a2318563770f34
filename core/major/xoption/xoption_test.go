package xoption_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"gorm.io/gorm"
	"gorm.io/gorm/utils/tests"

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

// plan returns the plan of opts.
func plan(opts ...xoption.Option) *startup.Plan {
	p := &startup.Plan{}
	xoption.WithOptions(opts...)(p)
	return p
}

// phases returns the phases of the database and the cache.
func phases(p *startup.Plan) (list []*startup.Phase) {
	for _, makePhase := range []func(*startup.Plan) *startup.Phase{p.Database, p.Cache} {
		if makePhase == nil {
			continue
		}
		if phase := makePhase(p); phase != nil {
			list = append(list, phase)
		}
	}
	return list
}

// check returns the problems of the only phase.
func check(t *testing.T, p *startup.Plan) error {
	t.Helper()
	list := phases(p)
	if len(list) != 1 {
		t.Fatalf("%d phases, want one", len(list))
	}
	return list[0].Err
}

func TestWithDatabase(t *testing.T) {
	t.Run("repeated calls combine their options and later ones have precedence",
		func(t *testing.T) {
			p := plan(
				xoption.WithDatabase(xoptdatabase.WithDriver("first", "")),
				xoption.WithDatabase(xoptdatabase.WithDriver("second", "")),
				xoption.WithDatabase(),
			)
			if err := p.Problems; err != nil {
				t.Fatal(err)
			}
			if err := check(t, p); err == nil || !strings.Contains(err.Error(), `"second"`) ||
				strings.Contains(err.Error(), `"first"`) {
				t.Errorf("Err = %v, want the second driver", err)
			}
		})

	t.Run("the environment is read when the phase is created", func(t *testing.T) {
		t.Setenv("DATABASE_DRIVER", "none")
		p := plan(xoption.WithDatabase(xoptdatabase.FromEnv()))
		t.Setenv("DATABASE_DRIVER", "later")
		if err := check(t, p); err == nil || !strings.Contains(err.Error(), `"later"`) {
			t.Errorf("Err = %v, want the driver of the later environment", err)
		}
	})

	t.Run("a schema adds a setup step", func(t *testing.T) {
		p := plan(xoption.WithDatabase(xoptdatabase.WithDialector(tests.DummyDialector{})))
		if phase := phases(p)[0]; phase.Setup != nil {
			t.Error("a database with nothing to migrate has a setup step")
		}
		xoption.WithDatabase(xoptdatabase.WithPrepare(func(*gorm.DB) error { return nil }))(p)
		if phase := phases(p)[0]; phase.Setup == nil {
			t.Error("a database with a Prepare function has no setup step")
		}
	})

	t.Run("a driver without leases sets no Leases function", func(t *testing.T) {
		p := plan(xoption.WithDatabase(xoptdatabase.WithDialector(tests.DummyDialector{})))
		if phase := phases(p)[0]; phase.Err != nil || phase.Leases != nil {
			t.Errorf("Err = %v, supports leases: %t; want false", phase.Err, phase.Leases != nil)
		}
	})
}

func TestWithCache(t *testing.T) {
	t.Run("repeated calls combine their options and later ones have precedence",
		func(t *testing.T) {
			p := plan(
				xoption.WithCache(), xoption.WithCache(xoptcache.WithDriver("first")),
				xoption.WithCache(xoptcache.WithDriver("second")),
			)
			if err := p.Problems; err != nil {
				t.Fatal(err)
			}
			if err := check(t, p); err == nil || !strings.Contains(err.Error(), `"second"`) ||
				strings.Contains(err.Error(), `"first"`) {
				t.Errorf("Err = %v, want the second driver", err)
			}
		})
}

func TestPhases(t *testing.T) {
	t.Run("the driver none starts no phase", func(t *testing.T) {
		t.Setenv("DATABASE_DRIVER", "none")
		t.Setenv("NOSQL_DRIVER", "none")
		p := plan(xoption.WithDatabase(xoptdatabase.FromEnv()),
			xoption.WithCache(xoptcache.FromEnv()))
		if list := phases(p); len(list) != 0 {
			t.Errorf("%d phases, want none", len(list))
		}
	})

	t.Run("nil options are skipped", func(t *testing.T) {
		if list := phases(plan(xoption.WithDatabase(nil), xoption.WithCache(nil))); len(list) != 0 {
			t.Errorf("%d phases, want none", len(list))
		}
	})

	t.Run("options are evaluated once", func(t *testing.T) {
		var database, cache int
		p := plan(
			xoption.WithDatabase(xoptdatabase.WithDialector(tests.DummyDialector{}),
				func(*xdb.Options) { database++ }),
			xoption.WithCache(func(*xcache.Options) { cache++ }),
		)
		for _, phase := range phases(p) {
			if phase.Err != nil {
				t.Errorf("%s: %v", phase.Name, phase.Err)
			}
		}
		if database != 1 || cache != 1 {
			t.Errorf("options ran %d and %d times, want once each", database, cache)
		}
	})
}

func TestOptions(t *testing.T) {
	t.Run("nil functions are problems", func(t *testing.T) {
		p := plan(xoption.WithRoute(nil), xoption.WithEngine(nil), xoption.WithServe(nil),
			xoption.WithServer(nil), xoption.WithLogConfig(nil), xoption.WithLogger(nil),
			xoption.WithListener(nil), xoption.WithLeases(nil))
		if n := strings.Count(p.Problems.Error(), "is nil"); n != 8 {
			t.Errorf("Problems = %v, want 8", p.Problems)
		}
	})

	t.Run("are collected in order", func(t *testing.T) {
		p := plan(
			xoption.WithEnvFile("a"), xoption.WithEnvFile("b", "c"),
			xoption.WithSnowflake(xsnowflake.WithNodeID(1)),
			xoption.WithEnvDefaults(map[xenv.EnvKey]string{xenv.Port: "1", xenv.Host: "h"}),
			xoption.WithEnvDefaults(map[xenv.EnvKey]string{xenv.Port: "2"}),
			xoption.WithOptions(xoption.WithRoute(func(context.Context, *gin.Engine) {}), nil,
				xoption.WithHealth()),
			xoption.WithDrainDelay(time.Second), nil,
		)
		if strings.Join(p.EnvFiles, "") != "abc" || len(p.Snowflake) != 1 || len(p.Routes) != 1 ||
			len(p.Settings) != 1 {
			t.Errorf("plan = %+v", p)
		}
		if p.EnvDefaults[xenv.Port] != "2" || p.EnvDefaults[xenv.Host] != "h" {
			t.Errorf("defaults = %v, want the later port", p.EnvDefaults)
		}
		if p.LivePath != "/healthz" || p.ReadyPath != "/readyz" {
			t.Errorf("health = %q and %q, want the default paths", p.LivePath, p.ReadyPath)
		}
	})

	t.Run("0 disables a limit and a negative limit is a problem", func(t *testing.T) {
		for d, want := range map[time.Duration]time.Duration{0: -1, time.Second: time.Second} {
			if got := serveConfig(xoption.WithRequestTimeout(d)).RequestTimeout; got != want {
				t.Errorf("WithRequestTimeout(%s) = %s, want %s", d, got, want)
			}
		}
		for n, want := range map[int64]int64{0: -1, 7: 7} {
			if got := serveConfig(xoption.WithMaxBodyBytes(n)).MaxBodyBytes; got != want {
				t.Errorf("WithMaxBodyBytes(%d) = %d, want %d", n, got, want)
			}
		}
		for name, opt := range map[string]xoption.Option{
			"WithRequestTimeout": xoption.WithRequestTimeout(-1),
			"WithMaxBodyBytes":   xoption.WithMaxBodyBytes(-1),
		} {
			if err := plan(opt).Problems; err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("%s of a negative value = %v, want a problem", name, err)
			}
		}
	})
}

// serveConfig returns the configuration of the request middleware with opt.
func serveConfig(opt xoption.Option) xhelper.Config {
	var settings startup.Settings
	for _, change := range plan(opt).Settings {
		change(&settings)
	}
	return settings.Serve
}
