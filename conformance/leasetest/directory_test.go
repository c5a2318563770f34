package leasetest_test

import (
	"io"
	"strings"
	"testing"

	"github.com/plinthgo/plinth/conformance/leasetest"
	"github.com/plinthgo/plinth/core/common/xlease"
	"github.com/plinthgo/plinth/core/common/xlease/driver"
)

// dirPrefix starts the address of a backend that stores its records in a directory.
const dirPrefix = "dir:"

// open opens a backend by its address, also in child processes.
func open(address string) (b driver.Backend, done func(), err error) {
	dir, ok := strings.CutPrefix(address, dirPrefix)
	if !ok {
		return dial(address)
	}
	b = xlease.InDirectory(dir)
	return b, func() { _ = b.(io.Closer).Close() }, nil
}

func TestRun_Directory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	leasetest.Run(t, leasetest.Harness{
		Open: func(tb testing.TB) driver.Backend {
			b, done, _ := open(dirPrefix + dir)
			tb.Cleanup(done)
			return b
		},
		Source: "this host", Server: "a directory",
	})
}

func TestNodes_Directory(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many processes")
	}
	leasetest.Nodes(t, leasetest.NodesHarness{
		Address: dirPrefix + t.TempDir(), Source: "this host", Server: "a directory",
	})
}
