package startup_test

import (
	"context"
	"testing"

	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/major/internal/startup"
)

func TestPlan_AddPhase(t *testing.T) {
	start := func(context.Context) (any, error) { return nil, nil }
	t.Run("a key is added once", func(t *testing.T) {
		var p startup.Plan
		p.AddPhase(startup.Phase{Name: "mine", Key: "mine", Start: start})
		p.AddPhase(startup.Phase{Name: "mine", Key: "mine", Start: start})
		if err := p.Problems(); err == nil || err.Error() != "xoption: mine is configured twice" {
			t.Errorf("Problems = %v", err)
		}
		if len(p.Phases) != 1 || !p.Has("mine") || p.Has("e") {
			t.Errorf("phases = %v, want mine once", p.Phases)
		}
	})
	t.Run("phases without a value are all added", func(t *testing.T) {
		var p startup.Plan
		p.AddPhase(startup.Phase{Name: "one", Key: xctx.Exec, Start: start})
		p.AddPhase(startup.Phase{Name: "two", Key: xctx.Exec, Start: start})
		if err := p.Problems(); err != nil || len(p.Phases) != 2 {
			t.Errorf("%d phases, %v; want both", len(p.Phases), err)
		}
	})
}
