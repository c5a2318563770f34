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

// patient is a node that may be unwell.
type patient struct{ ill atomic.Bool }

var errIll = errors.New("dial tcp db.internal:5432: password=s3cret rejected")

func (p *patient) CheckHealth(context.Context) error {
	if p.ill.Load() {
		return errIll
	}
	return nil
}

// answer is the readiness answer.
type answer struct {
	Status string
	Nodes  []struct {
		Name      string
		OK        bool
		LatencyUS *int64 `json:"latency_us"`
		Error     string
	}
}

func TestReadinessFollowsTheLife(t *testing.T) {
	reg, _ := begin(t, nil, xoption.WithHealth())
	for _, tc := range []struct {
		name   string
		move   func(context.Context) error
		status string
		want   int
	}{
		{
			name: "before the start has finished", move: reg.Life().Start, status: "starting",
			want: http.StatusServiceUnavailable,
		},
		{name: "after it", move: reg.Life().Ready, status: "ready", want: http.StatusOK},
		{
			name:   "from the first moment of the stop",
			move:   func(context.Context) error { reg.Life().StartDrain(); return nil },
			status: "draining", want: http.StatusServiceUnavailable,
		},
		{
			name: "at the end", move: reg.Life().Stop, status: "stopped",
			want: http.StatusServiceUnavailable,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if err := tc.move(t.Context()); err != nil {
				t.Fatal(err)
			}
			w := get(reg, "GET", "/readyz")
			if got := decode[answer](t, w); w.Code != tc.want || got.Status != tc.status {
				t.Errorf("/readyz = %d %s, want %d %s", w.Code, got.Status, tc.want, tc.status)
			}
			if w := get(reg, "GET", "/healthz"); w.Code != http.StatusOK ||
				strings.TrimSpace(w.Body.String()) != `{"status":"alive"}` {
				t.Errorf("/healthz = %d %s, want 200 and alive", w.Code, w.Body)
			}
		})
	}
}

func TestReadinessListsNodesAndTellsNobodyTheirErrors(t *testing.T) {
	p := &patient{}
	reg, out := begin(t, []xregnode.Node{{
		Key:  "db",
		Node: func(context.Context) (any, error) { return p, nil },
	}}, xoption.WithHealth())
	if err := reg.Life().Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	ready := func(want int, status string) answer {
		t.Helper()
		w := get(reg, "GET", "/readyz")
		got := decode[answer](t, w)
		if w.Code != want || got.Status != status || len(got.Nodes) != 2 ||
			strings.Contains(w.Body.String(), "s3cret") ||
			strings.Contains(w.Body.String(), "internal:") {
			t.Errorf("/readyz = %d %s, want %d %s, two nodes and no text of the error",
				w.Code, w.Body, want, status)
		}
		return got
	}
	got := ready(http.StatusOK, "ready")
	if got.Nodes[0].Name != "snowflake" || got.Nodes[1].Name != "db" || !got.Nodes[1].OK ||
		got.Nodes[1].LatencyUS == nil {
		t.Errorf("nodes = %+v, want the id node and db, well", got.Nodes)
	}
	p.ill.Store(true)
	ready(http.StatusServiceUnavailable, "unavailable")
	if got = ready(http.StatusServiceUnavailable, "unavailable"); got.Nodes[1].OK ||
		got.Nodes[1].Error != "SERVER_INTERNAL_ERROR" {
		t.Errorf("nodes = %+v, want db unwell with a label", got.Nodes)
	}
	p.ill.Store(false)
	ready(http.StatusOK, "ready")
	if linesWith(out, "node is not well") != 1 || linesWith(out, "node is well again") != 1 {
		t.Errorf("log\n%s\nwant one line for each change", out)
	}
	if linesWith(out, "/readyz") != 0 {
		t.Errorf("log\n%s\nwant no access log of the health routes", out)
	}
}

func TestHealthPathsCanBeChosen(t *testing.T) {
	reg, _ := begin(t, nil, xoption.WithHealthPaths("/live", "/ready"))
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

func TestProbeThatGivesUpMakesNoNodeUnwell(t *testing.T) {
	reg, out := begin(t, nil, xoption.WithHealth())
	release := make(chan struct{})
	defer close(release)
	reg.Life().AddHealth("slow", func(context.Context) error { <-release; return nil })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	getWith(ctx, reg, "/readyz")
	if linesWith(out, "not well") != 0 {
		t.Errorf("log\n%s\nwant nothing about a probe that left", out)
	}
	if reg.Life().State() != xhook.StateStarting {
		t.Errorf("state = %s", reg.Life().State())
	}
}

func TestReadinessReportsADegradedNode(t *testing.T) {
	var state atomic.Pointer[string]
	reg, out := begin(t, nil, xoption.WithHealth())
	reg.Life().AddHealth("pool", func(context.Context) error {
		if s := state.Load(); s != nil {
			return xhook.Degraded(*s)
		}
		return nil
	})
	if err := reg.Life().Ready(t.Context()); err != nil {
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
	if linesWith(out, "node is degraded") != 1 || linesWith(out, "node is well again") != 1 {
		t.Errorf("log\n%s\nwant one line for each change", out)
	}
}

func TestNodeThatReturnsANilPointerTakesNoPartInTheReadiness(t *testing.T) {
	reg, _ := begin(t, []xregnode.Node{
		{Key: "switched off", Node: func(context.Context) (any, error) {
			return (*patient)(nil), nil
		}},
	}, xoption.WithHealth())
	if err := reg.Life().Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	w := get(reg, "GET", "/readyz")
	if got := decode[answer](t, w); w.Code != http.StatusOK || len(got.Nodes) != 1 ||
		got.Nodes[0].Name != "snowflake" {
		t.Errorf("/readyz = %d %+v, want 200 with the id node only", w.Code, got)
	}
}
