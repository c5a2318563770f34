package snippets_test

import (
	"context"
	"testing"

	xAsync "github.com/plinthgo/plinth/asyncx"
	xCtx "github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/major/plinthtest"
	xOption "github.com/plinthgo/plinth/core/major/xoption"
	xRegNode "github.com/plinthgo/plinth/core/major/xreg/xregnode"
)

func TestXAsyncRunsInThePoolOfTheApplication(t *testing.T) {
	t.Parallel()
	nodes := []xRegNode.RegNodeList{
		{Key: xCtx.Exec, Node: xAsync.Init(xAsync.WithConcurrency(20), xAsync.WithQueueSize(1000))},
	}
	app := plinthtest.New(t, xOption.WithNodes(nodes...))
	ran := false
	if err := xAsync.Async(app.Context(), func(context.Context) { ran = true }).Wait(t.Context()); err != nil || !ran {
		t.Errorf("ran = %t, err = %v, want work that has run", ran, err)
	}
}
