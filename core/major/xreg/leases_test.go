package xreg_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plinthgo/plinth/core/common/xlease"
	"github.com/plinthgo/plinth/core/common/xlease/driver"
	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/internal/startup"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xreg"
	"github.com/plinthgo/plinth/core/major/xreg/xregnode"
)

func TestLeasesAreThoseThatDecideBetweenMost(t *testing.T) {
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
			name: "cache that was chosen", backend: "cache",
			database: driver.Cluster, cache: driver.Process, want: "cache",
		},
		{
			name: "database that was chosen", backend: "database",
			database: driver.Host, cache: driver.Cluster, want: "database",
		},
		{name: "none", backend: "none", database: driver.Cluster, cache: driver.Cluster},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Setenv("LEASE_BACKEND", tc.backend)
			database, cache := newKeeper("database", tc.database), newKeeper("cache", tc.cache)
			reg, out := begin(t, nil, cache.phase(), database.phase())
			got, err := xlease.GetLeases(reg.Init.Ctx)
			if tc.want == "" {
				if err == nil || detail(reg, "leases") != "" {
					t.Errorf("leases = %v, want none", got)
				}
				return
			}
			want := map[string]*keeper{"database": database, "cache": cache}[tc.want]
			if err != nil || got != want.leases {
				t.Fatalf("leases = %v, %v; want those of the %s", got, err, tc.want)
			}
			if d := detail(reg, "leases"); d != want.leases.String() {
				t.Errorf("part = %q, want %q", d, want.leases)
			}
			if line := fmt.Sprintf(`"backend":"the %s","between":"all of one %s"`,
				tc.want, want.scope); linesWith(out, line) != 1 {
				t.Errorf("log\n%s\nwant once %s", out, line)
			}
		})
	}
}

func TestBackendThatKeepsNoLeasesIsPassedOverUnlessItWasChosen(t *testing.T) {
	none := newKeeper("database", driver.Cluster)
	none.err = fmt.Errorf("%w: the driver x", xlease.ErrUnsupported)
	reg, _ := begin(t, nil, none.phase())
	if got, err := xlease.GetLeases(reg.Init.Ctx); err == nil || detail(reg, "leases") != "none" {
		t.Errorf("leases = %v, want none", got)
	}
	cache := newKeeper("cache", driver.Process)
	reg, _ = begin(t, nil, none.phase(), cache.phase())
	if got := xlease.MustGetLeases(reg.Init.Ctx); got != cache.leases {
		t.Errorf("leases = %v, want the cache's", got)
	}
	t.Setenv("LEASE_BACKEND", "database")
	base, _ := alone(t)
	got := problems(t, base, none.phase(), cache.phase())
	if len(got) != 1 || !strings.Contains(got[0], "LEASE_BACKEND=database") ||
		!strings.Contains(got[0], "the driver x") {
		t.Errorf("problems = %q, want the variable and the driver", got)
	}
}

func TestDatabaseThatMayNotKeepLeasesFailsTheStartAndSaysWhatToDo(t *testing.T) {
	for _, backend := range []string{"auto", "database"} {
		t.Setenv("LEASE_BACKEND", backend)
		base, _ := unnumbered(t)
		database, cache := newKeeper("database", driver.Cluster), newKeeper("cache", driver.Cluster)
		database.err = errors.New(
			`the table plinth_leases is missing and could not be created; create it with "CREATE TABLE": denied`)
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
}

func TestBackendOfTheLeasesThatIsNotThereIsReportedBeforeAnythingIsOpened(t *testing.T) {
	opened := false
	other := xoption.WithNodes(xregnode.Node{
		Key:  "p",
		Node: func(context.Context) (any, error) { opened = true; return nil, nil },
	})
	switchedOff := func(p *startup.Plan) {
		p.Database = func(*startup.Plan) *startup.Phase { return nil }
	}
	withoutLeases := withPhase(startup.Phase{Name: "database", Key: xctx.DatabaseKey})
	broken := withPhase(startup.Phase{
		Name: "database", Key: xctx.DatabaseKey, Err: xenv.Problem(xenv.LeaseBackend, "database",
			"was not looked at", "a database that is not broken"),
		Leases: newKeeper("database", driver.Cluster).lend,
	})
	base, _ := alone(t)
	for _, tc := range []struct {
		name, backend string
		opts          []xoption.Option
		want          string
	}{
		{
			name: "no database", backend: "database",
			want: "xoption.WithDatabase and set DATABASE_DRIVER (accepted: here auto, none)",
		},
		{
			name: "database that is switched off", backend: "database",
			opts: []xoption.Option{switchedOff}, want: "DATABASE_DRIVER",
		},
		{
			name: "no cache", backend: "cache",
			opts: []xoption.Option{switchedOff}, want: "xoption.WithCache and set NOSQL_DRIVER",
		},
		{
			name: "driver that keeps none", backend: "database", opts: []xoption.Option{withoutLeases},
			want: "cannot be: the driver of the database keeps no leases",
		},
		{
			name: "database that is wrong", backend: "database",
			opts: []xoption.Option{broken}, want: "was not looked at",
		},
		{name: "no backend", backend: "redis", want: "accepted: auto, database, cache, none"},
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
	reg, _ := begin(t, nil, xoption.WithLeases(func(context.Context) (*xlease.Leases, error) {
		return own, nil
	}))
	if got := xlease.MustGetLeases(reg.Init.Ctx); got != own {
		t.Errorf("leases = %v, want those of the option", got)
	}
	if err := reg.Apply(xoption.WithLeases(func(context.Context) (*xlease.Leases, error) {
		return own, nil
	})); err == nil ||
		!strings.Contains(err.Error(), "WithLeases must be given to Register") {
		t.Errorf("Apply = %v, want it to be too late", err)
	}
}

func TestIDNodeLeasesItsNumberWhereTheLeasesAreThoseOfACluster(t *testing.T) {
	layout := xoption.WithSnowflake(xsnowflake.WithLayout(xsnowflake.LayoutWide))
	for _, tc := range []struct {
		name  string
		scope driver.Scope
		env   [2]string
		opts  []xoption.Option
		want  string
	}{
		{
			name: "cluster", scope: driver.Cluster,
			want: "a lease in the database, between all of one cluster",
		},
		{name: "host", scope: driver.Host, want: "between all of one host"},
		{name: "process", scope: driver.Process, want: "between all of one host"},
		{
			name: "number", scope: driver.Cluster, env: [2]string{"SNOWFLAKE_NODE_ID", "3"},
			want: "SNOWFLAKE_NODE_ID",
		},
		{
			name: "no leases", scope: driver.Cluster, env: [2]string{"LEASE_BACKEND", "none"},
			want: "between all of one host",
		},
		{
			name: "other layout", scope: driver.Cluster, opts: []xoption.Option{layout},
			want: "xoption.WithSnowflake: a lease in the database",
		},
		{
			name: "datacenter", scope: driver.Cluster, env: [2]string{"SNOWFLAKE_DATACENTER_ID", "5"},
			want: "a lease in the database",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if tc.env[0] != "" {
				t.Setenv(tc.env[0], tc.env[1])
			}
			reg, out := startUnnumbered(t,
				append(tc.opts, newKeeper("database", tc.scope).phase())...)
			if got := source(out); !strings.Contains(got, tc.want) {
				t.Errorf("source = %q, want %q", got, tc.want)
			}
			if id := xsnowflake.MustGenerateSnowflakeID(reg.Init.Ctx); tc.name == "datacenter" &&
				id.DatacenterID() != 5 {
				t.Errorf("id of datacenter %d, want 5", id.DatacenterID())
			}
		})
	}
}

func TestEndOfTheContextEndsTheWaitForTheNumberOfTheIDNode(t *testing.T) {
	for _, opts := range [][]xoption.Option{
		nil,
		{xoption.WithSnowflake(xsnowflake.WithLayout(xsnowflake.LayoutWide))},
	} {
		base, _ := unnumbered(t)
		database := newKeeper("database", driver.Cluster)
		ctx, cancel := context.WithCancelCause(t.Context())
		cause := errors.New("enough")
		database.hangs = func() { cancel(cause) }
		reg, err := xreg.New(t.Context(), nil,
			append([]xoption.Option{base, database.phase()}, opts...)...)
		if err != nil {
			t.Fatalf("New with %d options = %v, want a start that leases no number", len(opts), err)
		}
		ctx = context.WithValue(ctx, xctx.SnowflakeNodeKey,
			reg.Init.Ctx.Value(xctx.SnowflakeNodeKey))
		if _, err := xsnowflake.GenerateSnowflakeID(ctx); !errors.Is(err, cause) ||
			err.GetErrorCode().GetOutput() != "SERVICE_UNAVAILABLE" {
			t.Errorf("the first id = %v, want the end of the context as SERVICE_UNAVAILABLE", err)
		}
		if err := reg.Close(t.Context()); err != nil {
			t.Errorf("Close = %v", err)
		}
	}
}

func TestIDNodeGivesItsNumberBackBeforeTheDatabaseIsClosed(t *testing.T) {
	database := newKeeper("database", driver.Cluster)
	base, _ := unnumbered(t)
	reg, err := xreg.New(t.Context(), nil, base, database.phase())
	if err != nil {
		t.Fatal(err)
	}
	node, _ := xsnowflake.GetNode(reg.Init.Ctx)
	node.MustGenerate()
	database.ends = func() {
		if _, err := node.Generate(); !errors.Is(err, xsnowflake.ErrClosed) {
			t.Errorf("an id when the database is closed = %v, want ErrClosed", err)
		}
	}
	if err := reg.Close(t.Context()); err != nil {
		t.Errorf("Close = %v", err)
	}
	if want := []string{
		"release in database",
		"close database",
	}; !slices.Equal(*database.log, want) {
		t.Errorf("order = %v, want %v", *database.log, want)
	}
}

func TestReg_Apply_leases(t *testing.T) {
	t.Run("a database opens the leases if there are none, and the ID node stays",
		func(t *testing.T) {
			reg, out := startUnnumbered(t)
			before := source(out)
			database := newKeeper("database", driver.Cluster)
			if err := reg.Apply(database.phase()); err != nil {
				t.Fatal(err)
			}
			if got := xlease.MustGetLeases(reg.Init.Ctx); got != database.leases {
				t.Errorf("leases = %v, want those of the database", got)
			}
			if !strings.Contains(before, "between all of one host") || source(out) != before ||
				linesWith(out, `"id node"`) != 1 {
				t.Errorf("source = %q, then %q; want the same file", before, source(out))
			}
		})
	t.Run("the leases that Register has opened stay", func(t *testing.T) {
		cache, database := newKeeper("cache", driver.Process), newKeeper("database", driver.Cluster)
		reg, _ := startUnnumbered(t, cache.phase())
		if err := reg.Apply(database.phase()); err != nil {
			t.Fatal(err)
		}
		if got := xlease.MustGetLeases(reg.Init.Ctx); got != cache.leases {
			t.Errorf("leases = %v, want those of the cache", got)
		}
	})
	t.Run("a database that is open already is an error", func(t *testing.T) {
		database := newKeeper("database", driver.Cluster)
		reg, _ := startUnnumbered(t, database.phase())
		err := reg.Apply(newKeeper("database", driver.Cluster).phase())
		if err == nil || err.Error() != "xreg: the database is open already: give all of its options to Register" {
			t.Errorf("Apply = %v, want an error that names the fix", err)
		}
	})
}

func TestReadinessFailsWithoutALeaseOnTheNumberAndRecovers(t *testing.T) {
	t.Setenv("SNOWFLAKE_LEASE_TTL", "3s")
	t.Setenv("SNOWFLAKE_LEASE_DIR", t.TempDir())
	base, _ := unnumbered(t)
	synctest.Test(t, func(t *testing.T) {
		<-time.After(27 * 366 * 24 * time.Hour) // to where ids begin
		database := newKeeper("database", driver.Cluster)
		reg, err := xreg.New(t.Context(), nil, base, database.phase(), xoption.WithHealth())
		if err != nil {
			t.Fatal(err)
		}
		if err := reg.Life().Ready(t.Context()); err != nil {
			t.Fatal(err)
		}
		ready := func(want int, label string) {
			t.Helper()
			w := get(reg, "GET", "/readyz")
			got := decode[answer](t, w)
			if w.Code != want || len(got.Nodes) != 1 || got.Nodes[0].Name != "snowflake" ||
				got.Nodes[0].Error != label {
				t.Errorf("/readyz = %d %s, want %d with %q", w.Code, w.Body, want, label)
			}
		}
		<-time.After(10 * time.Second) // renewed several times
		ready(http.StatusOK, "")
		xsnowflake.MustGenerateSnowflakeID(reg.Init.Ctx)
		<-time.After(10 * time.Second)
		ready(http.StatusOK, "")
		database.down.Store(true)
		<-time.After(3 * time.Second)
		ready(http.StatusServiceUnavailable, "SERVICE_UNAVAILABLE")
		if _, err := xsnowflake.GenerateSnowflakeID(reg.Init.Ctx); err == nil ||
			err.GetErrorCode().GetOutput() != "SERVICE_UNAVAILABLE" {
			t.Errorf("id without a lease = %v, want SERVICE_UNAVAILABLE", err)
		}
		database.down.Store(false)
		<-time.After(3 * time.Second)
		ready(http.StatusOK, "")
		if _, err := xsnowflake.GenerateSnowflakeID(reg.Init.Ctx); err != nil {
			t.Errorf("id after the recovery = %v", err)
		}
		if err := reg.Close(context.Background()); err != nil {
			t.Errorf("Close = %v", err)
		}
	})
}

func TestRegister_DefaultNode(t *testing.T) {
	base, _ := unnumbered(t)
	reg := xreg.Register(t.Context(), nil, base)
	library := make(chan error) // a goroutine without the application's context
	go func() {
		_, err := xsnowflake.GenerateSnowflakeID(context.Background())
		if err != nil {
			library <- err
			return
		}
		library <- nil
	}()
	if err := <-library; err != nil {
		t.Errorf("id without a context = %v", err)
	}
	if err := reg.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := xsnowflake.GetNode(context.Background()); err == nil {
		t.Error("the node of the process has outlived its application")
	}
	other, _ := begin(t, nil)
	if node, err := xsnowflake.GetNode(context.Background()); err == nil {
		t.Errorf("New has made %p the node of the process; want Register alone to do so for %p",
			node, other)
	}
}
