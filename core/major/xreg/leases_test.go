package xreg_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/plinthgo/plinth/core/common/xlease"
	"github.com/plinthgo/plinth/core/common/xlease/driver"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/internal/startup"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xreg/xregnode"
)

func TestNew_Leases(t *testing.T) {
	t.Run("the widest scope has precedence", func(t *testing.T) {
		for _, tc := range []struct {
			name, backend string
			database      driver.Scope
			cache         driver.Scope
			want          string
		}{
			{
				name: "two servers", backend: "auto",
				database: driver.Cluster, cache: driver.Cluster, want: "database",
			},
			{
				name: "database file, cache server", backend: "auto",
				database: driver.Host, cache: driver.Cluster, want: "cache",
			},
			{
				name: "database file, cache in the process", backend: "auto",
				database: driver.Host, cache: driver.Process, want: "database",
			},
			{
				name: "database server, cache in the process", backend: "auto",
				database: driver.Cluster, cache: driver.Process, want: "database",
			},
			{
				name: "configured cache", backend: "cache",
				database: driver.Cluster, cache: driver.Process, want: "cache",
			},
			{
				name: "configured database", backend: "database",
				database: driver.Host, cache: driver.Cluster, want: "database",
			},
			{name: "disabled", backend: "none", database: driver.Cluster, cache: driver.Cluster},
		} {
			t.Run(tc.name, func(t *testing.T) {
				t.Setenv("LEASE_BACKEND", tc.backend)
				database := newLeaseBackend("database", tc.database)
				cache := newLeaseBackend("cache", tc.cache)
				reg, out := start(t, nil, cache.phase(), database.phase())
				got, err := xlease.GetLeases(reg.Init.Ctx)
				if tc.want == "" {
					if err == nil || detail(reg, "leases") != "" {
						t.Errorf("leases = %v, want none", got)
					}
					return
				}
				want := map[string]*leaseBackend{"database": database, "cache": cache}[tc.want]
				if err != nil || got != want.leases {
					t.Fatalf("leases = %v, %v; want those of the %s", got, err, tc.want)
				}
				if d := detail(reg, "leases"); d != want.leases.String() {
					t.Errorf("part = %q, want %q", d, want.leases)
				}
				if line := fmt.Sprintf(`"backend":"the %s","scope":"%s"`,
					tc.want, want.scope); linesWith(out, line) != 1 {
					t.Errorf("log\n%s\nwant once %s", out, line)
				}
			})
		}
	})

	t.Run("a backend without leases is skipped unless it is configured", func(t *testing.T) {
		none := newLeaseBackend("database", driver.Cluster)
		none.err = fmt.Errorf("%w: the driver x", xlease.ErrUnsupported)
		reg, _ := start(t, nil, none.phase())
		if got, err := xlease.GetLeases(reg.Init.Ctx); err == nil ||
			detail(reg, "leases") != "none" {
			t.Errorf("leases = %v, want none", got)
		}
		cache := newLeaseBackend("cache", driver.Process)
		reg, _ = start(t, nil, none.phase(), cache.phase())
		if got := xlease.MustGetLeases(reg.Init.Ctx); got != cache.leases {
			t.Errorf("leases = %v, want the cache's", got)
		}
		t.Setenv("LEASE_BACKEND", "database")
		base, _ := isolated(t)
		got := problems(t, base, none.phase(), cache.phase())
		if len(got) != 1 || !strings.Contains(got[0], "LEASE_BACKEND=database") ||
			!strings.Contains(got[0], "the driver x") {
			t.Errorf("problems = %q, want the variable and the driver", got)
		}
	})

	t.Run("a database error aborts the startup and names the fix", func(t *testing.T) {
		for _, backend := range []string{"auto", "database"} {
			t.Setenv("LEASE_BACKEND", backend)
			base, _ := isolatedLeased(t)
			database := newLeaseBackend("database", driver.Cluster)
			cache := newLeaseBackend("cache", driver.Cluster)
			database.err = errors.New("the table plinth_leases is missing and could not be " +
				`created; create it with "CREATE TABLE": denied`)
			got := problems(t, base, database.phase(), cache.phase())
			if len(got) != 1 {
				t.Fatalf("problems = %q, want one", got)
			}
			for _, want := range []string{
				"CREATE TABLE", "LEASE_BACKEND=" + backend,
				"accepted instead: cache, or none with a SNOWFLAKE_NODE_ID for each replica",
			} {
				if !strings.Contains(got[0], want) {
					t.Errorf("problem = %s, want %q in it", got[0], want)
				}
			}
			if !slices.Equal(*database.log, []string{"close database"}) ||
				!slices.Equal(*cache.log, []string{"close cache"}) {
				t.Errorf("closed %v and %v, want both", *database.log, *cache.log)
			}
		}
	})

	t.Run("a missing backend is reported before anything is opened", func(t *testing.T) {
		opened := false
		other := xoption.WithNodes(xregnode.Node{
			Key:  "p",
			Node: func(context.Context) (any, error) { opened = true; return nil, nil },
		})
		disabled := func(p *startup.Plan) {
			p.Database = func(*startup.Plan) *startup.Phase { return nil }
		}
		withoutLeases := withPhase(startup.Phase{Name: "database", Key: xctx.DatabaseKey})
		broken := withPhase(startup.Phase{
			Name: "database", Key: xctx.DatabaseKey,
			Err: xenv.Problem(xenv.LeaseBackend, "database",
				"cannot be checked", "a valid database"),
			Leases: newLeaseBackend("database", driver.Cluster).openLeases,
		})
		base, _ := isolated(t)
		for _, tc := range []struct {
			name, backend string
			opts          []xoption.Option
			want          string
		}{
			{
				name: "no database", backend: "database",
				want: "xoption.WithDatabase to Register and set DATABASE_DRIVER " +
					"(accepted: auto, none)",
			},
			{
				name: "disabled database", backend: "database",
				opts: []xoption.Option{disabled}, want: "DATABASE_DRIVER",
			},
			{
				name: "no cache", backend: "cache",
				opts: []xoption.Option{disabled},
				want: "xoption.WithCache to Register and set NOSQL_DRIVER",
			},
			{
				name: "driver without leases", backend: "database",
				opts: []xoption.Option{withoutLeases},
				want: "is not supported: the driver of the database does not support leases",
			},
			{
				name: "invalid database", backend: "database",
				opts: []xoption.Option{broken}, want: "cannot be checked",
			},
			{
				name: "unknown backend", backend: "redis",
				want: "accepted: auto, database, cache, none",
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				t.Setenv("LEASE_BACKEND", tc.backend)
				got := problems(t, append(tc.opts, base, other)...)
				if len(got) != 1 || !strings.HasPrefix(got[0], `LEASE_BACKEND: "`+tc.backend+`"`) ||
					!strings.Contains(got[0], tc.want) || opened {
					t.Errorf("problems = %q, opened %t; want one with %q", got, opened, tc.want)
				}
			})
		}
		t.Setenv("LEASE_BACKEND", "database")
		own := xlease.New(xlease.InProcess(nil))
		reg, _ := start(t, nil, xoption.WithLeases(func(context.Context) (*xlease.Leases, error) {
			return own, nil
		}))
		if got := xlease.MustGetLeases(reg.Init.Ctx); got != own {
			t.Errorf("leases = %v, want those of the option", got)
		}
		err := reg.Apply(xoption.WithLeases(func(context.Context) (*xlease.Leases, error) {
			return own, nil
		}))
		if err == nil || !strings.Contains(err.Error(), "WithLeases must be passed to Register") {
			t.Errorf("Apply = %v, want an error", err)
		}
	})
}

func TestReg_Apply_Leases(t *testing.T) {
	t.Run("a database provides missing leases, and the ID node is unchanged", func(t *testing.T) {
		reg, out := startLeased(t)
		before := source(out)
		database := newLeaseBackend("database", driver.Cluster)
		if err := reg.Apply(database.phase()); err != nil {
			t.Fatal(err)
		}
		if got := xlease.MustGetLeases(reg.Init.Ctx); got != database.leases {
			t.Errorf("leases = %v, want those of the database", got)
		}
		if !strings.Contains(before, "(scope: host)") || source(out) != before ||
			linesWith(out, `"id node"`) != 1 {
			t.Errorf("source = %q, then %q; want the same file", before, source(out))
		}
	})
	t.Run("the leases of Register remain", func(t *testing.T) {
		cache := newLeaseBackend("cache", driver.Process)
		database := newLeaseBackend("database", driver.Cluster)
		reg, _ := startLeased(t, cache.phase())
		if err := reg.Apply(database.phase()); err != nil {
			t.Fatal(err)
		}
		if got := xlease.MustGetLeases(reg.Init.Ctx); got != cache.leases {
			t.Errorf("leases = %v, want those of the cache", got)
		}
	})
	t.Run("a database that is already open is an error", func(t *testing.T) {
		database := newLeaseBackend("database", driver.Cluster)
		reg, _ := startLeased(t, database.phase())
		err := reg.Apply(newLeaseBackend("database", driver.Cluster).phase())
		const want = "xreg: the database is already open: pass all of its options to Register"
		if err == nil || err.Error() != want {
			t.Errorf("Apply = %v, want an error that names the fix", err)
		}
	})
}
