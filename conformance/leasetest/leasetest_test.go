package leasetest_test

import (
	"flag"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/plinthgo/plinth/conformance/leasetest"
	"github.com/plinthgo/plinth/core/common/xlease"
	"github.com/plinthgo/plinth/core/common/xlease/driver"
)

// The suite must fail for a broken backend, so it runs in a process of its own there.
var defectFlag = flag.String("leasetest.defect", "", "run the suite on a backend with this defect")

func TestTheMemoryOfTheProcessPasses(t *testing.T) {
	b := xlease.InProcess(nil)
	leasetest.Run(t, leasetest.Harness{
		Open:   func(testing.TB) driver.Backend { return b },
		Source: "in process", Server: "this process",
	})
}

func TestABackendThatMayForgetPasses(t *testing.T) {
	b := newForgetful()
	leasetest.Run(t, leasetest.Harness{
		Open:   func(testing.TB) driver.Backend { return b },
		Forget: b.Forget,
	})
}

func TestABackendBehindASocketPasses(t *testing.T) {
	b := newForgetful()
	address := serve(t, b)
	leasetest.Run(t, leasetest.Harness{Forget: b.Forget, Open: func(tb testing.TB) driver.Backend {
		tb.Helper()
		c, done, err := dial(address)
		if err != nil {
			tb.Fatal(err)
		}
		tb.Cleanup(done)
		return c
	}})
}

// TestBroken is the process that the test below starts.
func TestBroken(t *testing.T) {
	d, ok := defects[*defectFlag]
	if !ok {
		t.Skip("needs a flag")
	}
	right := newForgetful()
	b := &broken{forgetful: right}
	d.breaks(b)
	leasetest.Run(t, leasetest.Harness{
		Open:   func(testing.TB) driver.Backend { return b },
		Forget: right.Forget,
	})
}

func TestEveryDefectIsFound(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(defects)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found := defects[name].found
			if !slices.Contains(leasetest.Checks(), found) {
				t.Fatalf("%q is no check", found)
			}
			out, err := exec.CommandContext(t.Context(), self, "-test.timeout=1m",
				"-leasetest.defect="+name,
				"-test.run=^TestBroken$/^suite$/^"+strings.ReplaceAll(found, "/",
					"$/^")+"$").CombinedOutput()
			if err == nil || !strings.Contains(string(out), "--- FAIL: TestBroken/suite/"+found) {
				t.Errorf("the suite ended with %v, want a failure of %s:\n%s", err, found, out)
			}
		})
	}
}

func TestEveryCheckFindsADefect(t *testing.T) {
	for _, check := range leasetest.Checks() {
		if !slices.ContainsFunc(slices.Collect(maps.Values(defects)),
			func(d defect) bool { return d.found == check }) {
			t.Errorf("no defect is there for the check %s", check)
		}
	}
}
