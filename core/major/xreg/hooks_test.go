package xreg_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/plinthgo/plinth/core/major/xhook"
	"github.com/plinthgo/plinth/core/major/xreg"
	"github.com/plinthgo/plinth/core/major/xreg/xregnode"
)

func TestReg_Close(t *testing.T) {
	t.Run("runs shutdown hooks before and stop hooks after the cancellation", func(t *testing.T) {
		var log []string
		reg, _ := start(t, nil)
		reg.Lifecycle().OnStop("a", func(context.Context) error {
			<-reg.Init.Ctx.Done()
			log = append(log, "stop")
			return nil
		})
		reg.Lifecycle().OnShutdown("a", func(context.Context) error {
			if reg.Init.Ctx.Err() == nil {
				log = append(log, "shutdown")
			}
			return nil
		})
		if err := reg.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(log, " "); got != "shutdown stop" {
			t.Errorf("order = %q, want shutdown with an active context, then stop", got)
		}
	})

	t.Run("logs panics of hooks with their stacks", func(t *testing.T) {
		base, out := isolated(t)
		boom := errors.New("boom")
		_, err := xreg.New(t.Context(),
			[]xregnode.Node{{Key: "n", Node: func(ctx context.Context) (any, error) {
				xhook.OnShutdown(ctx, "a", func(context.Context) error { panic("in shutdown") })
				xhook.OnStop(ctx, "a", func(context.Context) error { panic("in stop") })
				return nil, boom
			}}}, base)
		if !errors.Is(err, boom) || !strings.Contains(err.Error(), "in shutdown") ||
			!strings.Contains(err.Error(), "in stop") {
			t.Errorf("New = %v, want all three problems", err)
		}
		if n := strings.Count(out.String(), "hooks_test.go"); n < 2 {
			t.Errorf("log\n%s\nwant a stack for both panics", out)
		}
	})
}
