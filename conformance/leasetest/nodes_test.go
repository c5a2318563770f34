package leasetest_test

import (
	"testing"

	"github.com/plinthgo/plinth/conformance/leasetest"
	"github.com/plinthgo/plinth/core/common/xlease"
)

func TestNodes_InProcess(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many processes")
	}
	t.Parallel()
	leasetest.Nodes(t, leasetest.NodesHarness{Address: serve(t, xlease.InProcess(nil))})
}

func TestNodes_Forget(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many processes")
	}
	t.Parallel()
	b := newForgetful()
	leasetest.Nodes(t, leasetest.NodesHarness{
		Address: serve(t, b), Forget: b.Forget, Each: 100_000,
	})
}
