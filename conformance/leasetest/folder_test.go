package leasetest_test

import (
	"io"
	"strings"
	"testing"

	"github.com/plinthgo/plinth/conformance/leasetest"
	"github.com/plinthgo/plinth/core/common/xlease"
	"github.com/plinthgo/plinth/core/common/xlease/driver"
)

// folder starts the address of a backend in a folder.
const folder = "folder:"

// open opens a backend by its address, also in the processes of leasetest.
func open(address string) (b driver.Backend, done func(), err error) {
	dir, ok := strings.CutPrefix(address, folder)
	if !ok {
		return dial(address)
	}
	b = xlease.InFolder(dir)
	return b, func() { _ = b.(io.Closer).Close() }, nil
}

func TestRun_InFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	leasetest.Run(t, leasetest.Harness{
		Open: func(tb testing.TB) driver.Backend {
			b, done, _ := open(folder + dir)
			tb.Cleanup(done)
			return b
		},
		Source: "this host", Server: "a folder",
	})
}

func TestNodes_InFolder(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many processes")
	}
	leasetest.Nodes(t, leasetest.NodesHarness{
		Address: folder + t.TempDir(), Source: "this host",
		Server: "a folder",
	})
}
