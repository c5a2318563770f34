package cachetest_test

import (
	"context"
	"flag"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/plinthgo/plinth/conformance/cachetest"
	"github.com/plinthgo/plinth/core/major/xcache/driver"
	"github.com/plinthgo/plinth/core/major/xcache/driver/drivertest"
)

// The suite must fail for a broken store, so it runs in a process of its own there.
var (
	defectFlag     = flag.String("cachetest.defect", "", "run the suite on a store with this defect")
	differenceFlag = flag.String("cachetest.difference", "",
		"declare the check name=reason a declared difference")
)

func TestARightStorePasses(t *testing.T) {
	cachetest.Run(t, cachetest.Harness{Driver: drivertest.MapDriver{}, FakeClock: true})
}

func TestARightStorePassesInRealTime(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for lives to end")
	}
	cachetest.Run(t, cachetest.Harness{Driver: drivertest.MapDriver{}})
}

func TestARightServerPasses(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for lives to end, and for servers that are gone")
	}
	cachetest.Run(t, remoteHarness(t))
}

// brokenDriver opens stores with the defect of the flag, or right ones.
type brokenDriver struct{ drivertest.MapDriver }

// Name implements driver.Driver.
func (brokenDriver) Name() string { return "broken" }

// Open implements driver.Driver.
func (brokenDriver) Open(_ context.Context, c driver.Config) (driver.Store, error) {
	if *defectFlag == nothingAtAll {
		return nothing{}, nil
	}
	return newBroken(c), nil
}

// TestBroken is the process that the tests below start.
func TestBroken(t *testing.T) {
	if *defectFlag == "" && *differenceFlag == "" {
		t.Skip("needs a flag")
	}
	h := cachetest.Harness{Driver: brokenDriver{}, FakeClock: true}
	if defects[*defectFlag].remote() || *defectFlag == nothingAtAll {
		h = remoteHarness(t)
		h.FakeClock = *defectFlag == nothingAtAll
	}
	if name, reason, ok := strings.Cut(*differenceFlag, "="); ok {
		h.Differences = map[string]string{name: reason}
	}
	cachetest.Run(t, h)
}

// runBroken runs a part of TestBroken with a flag, and returns what it printed and
// whether it passed. The part is the name of a check, or "" for all.
func runBroken(t *testing.T, part string, flags ...string) (output string, passed bool) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	run := "-test.run=^TestBroken$"
	for name := range strings.SplitSeq(part, "/") {
		if name != "" {
			run += "/^" + name + "$"
		}
	}
	out, err := exec.CommandContext(t.Context(), self,
		append([]string{run, "-test.timeout=2m"}, flags...)...).CombinedOutput()
	return string(out), err == nil
}

func TestEveryDefectIsFound(t *testing.T) {
	t.Parallel()
	for _, name := range slices.Sorted(maps.Keys(defects)) {
		if testing.Short() && defects[name].remote() {
			continue // waits for servers that are gone
		}
		for check := range strings.SplitSeq(defects[name].found, ", ") {
			t.Run(name+" by "+check, func(t *testing.T) {
				t.Parallel()
				out, passed := runBroken(t, check, "-cachetest.defect="+name)
				if passed || !strings.Contains(out, "--- FAIL: TestBroken/"+check) {
					t.Errorf("the check passed = %t, want a failure:\n%s", passed, out)
				}
			})
		}
	}
}

func TestADriverThatDoesNothingFailsEveryCheck(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("waits for lives to end")
	}
	out, _ := runBroken(t, "", "-cachetest.defect="+nothingAtAll)
	for _, check := range cachetest.Checks() {
		if !strings.Contains(out, "--- FAIL: TestBroken/"+check+" ") {
			t.Errorf("%s did not fail", check)
		}
	}
	if t.Failed() && !strings.Contains(out, "FAIL: TestBroken/Outage") {
		t.Log(out) // it ended before its time
	}
}

func TestALawfulDifferenceIsSkipped(t *testing.T) {
	out, passed := runBroken(t, "Expiry/OneMillisecond",
		"-cachetest.defect=a life has whole seconds",
		"-cachetest.difference=Expiry/OneMillisecond=its clock has seconds")
	if !passed {
		t.Errorf("the suite failed:\n%s", out)
	}
}

func TestLawfulDifferencesAreNamedAndReasoned(t *testing.T) {
	for lawful, want := range map[string]string{
		"Expiry/Unknown=because":  "which is no check",
		"Expiry/OneMillisecond= ": "gives no reason",
	} {
		out, passed := runBroken(t, "", "-cachetest.difference="+lawful)
		if passed || !strings.Contains(out, want) {
			t.Errorf("%s: the suite passed = %t, want a failure that says %q:\n%s",
				lawful, passed, want, out)
		}
	}
}
