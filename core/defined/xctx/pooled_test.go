package xctx_test

import (
	"context"
	"testing"

	"github.com/plinthgo/plinth/core/defined/xctx"
)

// Init functions run sequentially, but the goroutines that they start do not.
func TestUnpooled(t *testing.T) {
	ctx, done := t.Context(), make(chan context.Context)
	go func() { done <- xctx.Unpooled(ctx) }()
	xctx.RegisterPooled(func(any) context.Context { return nil })
	if got := <-done; got != ctx {
		t.Errorf("Unpooled = %v, want the context itself", got)
	}
}
