package snippets_test

import (
	"context"
	"testing"

	"github.com/plinthgo/plinth/asyncx"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/major/plinthtest"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xreg/xregnode"
)

func TestXAsync(t *testing.T) {
	t.Parallel()
	nodes := []xregnode.Node{
		{Key: xctx.Exec, Node: asyncx.Init(asyncx.WithConcurrency(20), asyncx.WithQueueSize(1000))},
	}
	app := plinthtest.New(t, xoption.WithNodes(nodes...))
	ran := false
	if err := asyncx.Async(app.Context(),
		func(context.Context) { ran = true }).Wait(t.Context()); err != nil || !ran {
		t.Errorf("ran = %t, err = %v, want a completed task", ran, err)
	}
}
