package xreg_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plinthgo/plinth/core/common/xlease/driver"
	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xreg"
)

func TestNew_LeasedNodeID(t *testing.T) {
	t.Run("the node ID is leased if the leases cover a cluster", func(t *testing.T) {
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
				want: "a lease in the database (scope: cluster)",
			},
			{name: "host", scope: driver.Host, want: "(scope: host)"},
			{name: "process", scope: driver.Process, want: "(scope: host)"},
			{
				name:  "configured node ID",
				scope: driver.Cluster, env: [2]string{"SNOWFLAKE_NODE_ID", "3"},
				want: "SNOWFLAKE_NODE_ID",
			},
			{
				name: "no leases", scope: driver.Cluster, env: [2]string{"LEASE_BACKEND", "none"},
				want: "(scope: host)",
			},
			{
				name: "other layout", scope: driver.Cluster, opts: []xoption.Option{layout},
				want: "xoption.WithSnowflake: a lease in the database",
			},
			{
				name:  "datacenter",
				scope: driver.Cluster, env: [2]string{"SNOWFLAKE_DATACENTER_ID", "5"},
				want: "a lease in the database",
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				if tc.env[0] != "" {
					t.Setenv(tc.env[0], tc.env[1])
				}
				reg, out := startLeased(t,
					append(tc.opts, newLeaseBackend("database", tc.scope).phase())...)
				if got := source(out); !strings.Contains(got, tc.want) {
					t.Errorf("source = %q, want %q", got, tc.want)
				}
				id := xsnowflake.MustGenerateSnowflakeID(reg.Init.Ctx)
				if tc.name == "datacenter" && id.DatacenterID() != 5 {
					t.Errorf("id of datacenter %d, want 5", id.DatacenterID())
				}
			})
		}
	})

	t.Run("cancellation ends the wait for a lease", func(t *testing.T) {
		for _, opts := range [][]xoption.Option{
			nil,
			{xoption.WithSnowflake(xsnowflake.WithLayout(xsnowflake.LayoutWide))},
		} {
			base, _ := isolatedLeased(t)
			database := newLeaseBackend("database", driver.Cluster)
			ctx, cancel := context.WithCancelCause(t.Context())
			cause := errors.New("enough")
			database.onAcquire = func() { cancel(cause) }
			reg, err := xreg.New(t.Context(), nil,
				append([]xoption.Option{base, database.phase()}, opts...)...)
			if err != nil {
				t.Fatalf("New with %d options = %v, want nil without a lease", len(opts), err)
			}
			ctx = context.WithValue(ctx, xctx.SnowflakeNodeKey,
				reg.Init.Ctx.Value(xctx.SnowflakeNodeKey))
			if _, err := xsnowflake.GenerateSnowflakeID(ctx); !errors.Is(err, cause) ||
				err.GetErrorCode().GetOutput() != "SERVICE_UNAVAILABLE" {
				t.Errorf("the first id = %v, want the context error as SERVICE_UNAVAILABLE", err)
			}
			if err := reg.Close(t.Context()); err != nil {
				t.Errorf("Close = %v", err)
			}
		}
	})

	t.Run("the lease is released before the database is closed", func(t *testing.T) {
		database := newLeaseBackend("database", driver.Cluster)
		base, _ := isolatedLeased(t)
		reg, err := xreg.New(t.Context(), nil, base, database.phase())
		if err != nil {
			t.Fatal(err)
		}
		node, _ := xsnowflake.GetNode(reg.Init.Ctx)
		node.MustGenerate()
		database.onClose = func() {
			if _, err := node.Generate(); !errors.Is(err, xsnowflake.ErrClosed) {
				t.Errorf("ID during the close of the database = %v, want ErrClosed", err)
			}
		}
		if err := reg.Close(t.Context()); err != nil {
			t.Errorf("Close = %v", err)
		}
		want := []string{"release in database", "close database"}
		if !slices.Equal(*database.log, want) {
			t.Errorf("order = %v, want %v", *database.log, want)
		}
	})
}

func TestReadyz_LeasedNodeID(t *testing.T) {
	t.Setenv("SNOWFLAKE_LEASE_TTL", "3s")
	t.Setenv("SNOWFLAKE_LEASE_DIR", t.TempDir())
	base, _ := isolatedLeased(t)
	synctest.Test(t, func(t *testing.T) {
		<-time.After(27 * 366 * 24 * time.Hour) // until the epoch of the IDs
		database := newLeaseBackend("database", driver.Cluster)
		reg, err := xreg.New(t.Context(), nil, base, database.phase(), xoption.WithHealth())
		if err != nil {
			t.Fatal(err)
		}
		if err := reg.Lifecycle().SetReady(t.Context()); err != nil {
			t.Fatal(err)
		}
		ready := func(want int, label string) {
			t.Helper()
			w := get(reg, "GET", "/readyz")
			got := decode[readiness](t, w)
			if w.Code != want || len(got.Nodes) != 1 || got.Nodes[0].Name != "snowflake" ||
				got.Nodes[0].Error != label {
				t.Errorf("/readyz = %d %s, want %d with %q", w.Code, w.Body, want, label)
			}
		}
		<-time.After(10 * time.Second) // several renewals
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
	base, _ := isolatedLeased(t)
	reg := xreg.Register(t.Context(), nil, base)
	library := make(chan error) // of a goroutine without the application's context
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
		t.Error("the default node is still set after Close")
	}
	other, _ := start(t, nil)
	if node, err := xsnowflake.GetNode(context.Background()); err == nil {
		t.Errorf("New set %p as the default node; want only Register to set it for %p",
			node, other)
	}
}
