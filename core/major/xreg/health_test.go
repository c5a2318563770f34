package xreg_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/plinthgo/plinth/core/major/xhook"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xreg/xregnode"
)

// healthNode is a node whose health can be changed.
type healthNode struct{ unhealthy atomic.Bool }

var errUnhealthy = errors.New("dial tcp db.internal:5432: password=s3cret rejected")

func (p *healthNode) CheckHealth(context.Context) error {
	if p.unhealthy.Load() {
		return errUnhealthy
	}
	return nil
}

// readiness is the readiness response.
type readiness struct {
	Status string
	Nodes  []struct {
		Name      string
		OK        bool
		LatencyUS *int64 `json:"latency_us"`
		Error     string
	}
}

func TestReadyz(t *testing.T) {
	t.Run("reports the state of the service", func(t *testing.T) {
		reg, _ := start(t, nil, xoption.WithHealth())
		for _, tc := range []struct {
			name   string
			move   func(context.Context) error
			status string
			want   int
		}{
			{
				name: "starting", move: reg.Lifecycle().Start, status: "starting",
				want: http.StatusServiceUnavailable,
			},
			{name: "ready", move: reg.Lifecycle().SetReady, status: "ready", want: http.StatusOK},
			{
				name:   "draining",
				move:   func(context.Context) error { reg.Lifecycle().StartDrain(); return nil },
				status: "draining", want: http.StatusServiceUnavailable,
			},
			{
				name: "stopped", move: reg.Lifecycle().Stop, status: "stopped",
				want: http.StatusServiceUnavailable,
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				if err := tc.move(t.Context()); err != nil {
					t.Fatal(err)
				}
				w := get(reg, "GET", "/readyz")
				if got := decode[readiness](t, w); w.Code != tc.want || got.Status != tc.status {
					t.Errorf("/readyz = %d %s, want %d %s", w.Code, got.Status, tc.want, tc.status)
				}
				if w := get(reg, "GET", "/healthz"); w.Code != http.StatusOK ||
					strings.TrimSpace(w.Body.String()) != `{"status":"alive"}` {
					t.Errorf("/healthz = %d %s, want 200 and alive", w.Code, w.Body)
				}
			})
		}
	})

	t.Run("lists nodes without error messages", func(t *testing.T) {
		p := &healthNode{}
		reg, out := start(t, []xregnode.Node{{
			Key:  "db",
			Node: func(context.Context) (any, error) { return p, nil },
		}}, xoption.WithHealth())
		if err := reg.Lifecycle().SetReady(t.Context()); err != nil {
			t.Fatal(err)
		}
		ready := func(want int, status string) readiness {
			t.Helper()
			w := get(reg, "GET", "/readyz")
			got := decode[readiness](t, w)
			if w.Code != want || got.Status != status || len(got.Nodes) != 2 ||
				strings.Contains(w.Body.String(), "s3cret") ||
				strings.Contains(w.Body.String(), "internal:") {
				t.Errorf("/readyz = %d %s, want %d %s, two nodes and no error text",
					w.Code, w.Body, want, status)
			}
			return got
		}
		got := ready(http.StatusOK, "ready")
		if got.Nodes[0].Name != "snowflake" || got.Nodes[1].Name != "db" || !got.Nodes[1].OK ||
			got.Nodes[1].LatencyUS == nil {
			t.Errorf("nodes = %+v, want a healthy ID node and db", got.Nodes)
		}
		p.unhealthy.Store(true)
		ready(http.StatusServiceUnavailable, "unavailable")
		if got = ready(http.StatusServiceUnavailable, "unavailable"); got.Nodes[1].OK ||
			got.Nodes[1].Error != "SERVER_INTERNAL_ERROR" {
			t.Errorf("nodes = %+v, want db failed with a label", got.Nodes)
		}
		p.unhealthy.Store(false)
		ready(http.StatusOK, "ready")
		if linesWith(out, "node unhealthy") != 1 || linesWith(out, "node healthy again") != 1 {
			t.Errorf("log\n%s\nwant one line for each change", out)
		}
		if linesWith(out, "/readyz") != 0 {
			t.Errorf("log\n%s\nwant no access log of the health routes", out)
		}
	})

	t.Run("a canceled probe does not change the state of a node", func(t *testing.T) {
		reg, out := start(t, nil, xoption.WithHealth())
		release := make(chan struct{})
		defer close(release)
		reg.Lifecycle().AddHealth("slow", func(context.Context) error { <-release; return nil })
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		getWith(ctx, reg, "/readyz")
		if linesWith(out, "node unhealthy") != 0 {
			t.Errorf("log\n%s\nwant no line for a canceled probe", out)
		}
		if reg.Lifecycle().State() != xhook.StateStarting {
			t.Errorf("state = %s", reg.Lifecycle().State())
		}
	})

	t.Run("reports a degraded node", func(t *testing.T) {
		var state atomic.Pointer[string]
		reg, out := start(t, nil, xoption.WithHealth())
		reg.Lifecycle().AddHealth("pool", func(context.Context) error {
			if s := state.Load(); s != nil {
				return xhook.Degraded(*s)
			}
			return nil
		})
		if err := reg.Lifecycle().SetReady(t.Context()); err != nil {
			t.Fatal(err)
		}
		saturated := "saturated"
		state.Store(&saturated)
		for range 2 {
			if w := get(reg, "GET", "/readyz"); w.Code != http.StatusOK ||
				!strings.Contains(w.Body.String(), `{"name":"pool","ok":true,"state":"saturated"`) {
				t.Errorf("/readyz = %d %s, want 200 with the state", w.Code, w.Body)
			}
		}
		state.Store(nil)
		if w := get(reg, "GET", "/readyz"); w.Code != http.StatusOK ||
			strings.Contains(w.Body.String(), "saturated") {
			t.Errorf("/readyz = %d %s, want 200 without the state", w.Code, w.Body)
		}
		if linesWith(out, "node degraded") != 1 || linesWith(out, "node healthy again") != 1 {
			t.Errorf("log\n%s\nwant one line for each change", out)
		}
	})

	t.Run("ignores a node that returned a nil pointer", func(t *testing.T) {
		reg, _ := start(t, []xregnode.Node{
			{Key: "disabled", Node: func(context.Context) (any, error) {
				return (*healthNode)(nil), nil
			}},
		}, xoption.WithHealth())
		if err := reg.Lifecycle().SetReady(t.Context()); err != nil {
			t.Fatal(err)
		}
		w := get(reg, "GET", "/readyz")
		if got := decode[readiness](t, w); w.Code != http.StatusOK || len(got.Nodes) != 1 ||
			got.Nodes[0].Name != "snowflake" {
			t.Errorf("/readyz = %d %+v, want 200 with the ID node only", w.Code, got)
		}
	})
}

func TestWithHealthPaths(t *testing.T) {
	reg, _ := start(t, nil, xoption.WithHealthPaths("/live", "/ready"))
	if w := get(reg, "HEAD", "/live"); w.Code != http.StatusOK ||
		w.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("HEAD /live = %d %v", w.Code, w.Header())
	}
	if w := get(reg, "GET", "/ready"); w.Code != http.StatusServiceUnavailable {
		t.Errorf("/ready = %d, want 503", w.Code)
	}
	if w := get(reg, "GET", "/healthz"); w.Code != http.StatusNotFound {
		t.Errorf("/healthz = %d, want 404", w.Code)
	}
}
