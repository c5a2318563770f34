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

// A broken backend must fail the suite, so the suite runs in a child process.
var defectFlag = flag.String("leasetest.defect", "", "run the suite on a backend with this defect")

func TestRun_InProcess(t *testing.T) {
	b := xlease.InProcess(nil)
	leasetest.Run(t, leasetest.Harness{
		Open:   func(testing.TB) driver.Backend { return b },
		Source: "in process", Server: "this process",
	})
}

func TestRun_Forget(t *testing.T) {
	b := newForgetful()
	leasetest.Run(t, leasetest.Harness{
		Open:   func(testing.TB) driver.Backend { return b },
		Forget: b.Forget,
	})
}

func TestRun_Socket(t *testing.T) {
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

// TestBroken runs in a child process of TestRun_Defects.
func TestBroken(t *testing.T) {
	d, ok := defects[*defectFlag]
	if !ok {
		t.Skip("needs -leasetest.defect")
	}
	correct := newForgetful()
	b := &broken{forgetful: correct}
	d.apply(b)
	leasetest.Run(t, leasetest.Harness{
		Open:   func(testing.TB) driver.Backend { return b },
		Forget: correct.Forget,
	})
}

func TestRun_Defects(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(defects)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check := defects[name].detectedBy
			if !slices.Contains(leasetest.Checks(), check) {
				t.Fatalf("unknown check %q", check)
			}
			run := "^TestBroken$/^suite$/^" + strings.ReplaceAll(check, "/", "$/^") + "$"
			out, err := exec.CommandContext(t.Context(), self, "-test.timeout=1m",
				"-leasetest.defect="+name, "-test.run="+run).CombinedOutput()
			if err == nil || !strings.Contains(string(out), "--- FAIL: TestBroken/suite/"+check) {
				t.Errorf("the suite returned %v, want a failure of %s:\n%s", err, check, out)
			}
		})
	}
}

func TestChecks(t *testing.T) {
	all := slices.Collect(maps.Values(defects))
	for _, check := range leasetest.Checks() {
		if !slices.ContainsFunc(all, func(d defect) bool { return d.detectedBy == check }) {
			t.Errorf("no defect covers the check %s", check)
		}
	}
}
