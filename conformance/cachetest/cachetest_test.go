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

// The suite must fail for a broken store, so these tests run it in another process.
var (
	defectFlag     = flag.String("cachetest.defect", "", "run the suite with this defect")
	differenceFlag = flag.String("cachetest.difference", "", "declare a difference, name=reason")
)

func TestRun(t *testing.T) {
	cachetest.Run(t, cachetest.Harness{Driver: drivertest.MapDriver{}, FakeClock: true})
}

func TestRun_RealTime(t *testing.T) {
	if testing.Short() {
		t.Skip("slow: real time")
	}
	cachetest.Run(t, cachetest.Harness{Driver: drivertest.MapDriver{}})
}

func TestRun_Remote(t *testing.T) {
	if testing.Short() {
		t.Skip("slow: real time and outages")
	}
	cachetest.Run(t, remoteHarness(t))
}

// brokenDriver opens stores with the defect of the flag, if any.
type brokenDriver struct{ drivertest.MapDriver }

// Name implements driver.Driver.
func (brokenDriver) Name() string { return "broken" }

// Open implements driver.Driver.
func (brokenDriver) Open(_ context.Context, c driver.Config) (driver.Store, error) {
	if *defectFlag == noopDefect {
		return noopStore{}, nil
	}
	return newBroken(c), nil
}

// TestBroken runs the suite in the processes of runBroken.
func TestBroken(t *testing.T) {
	if *defectFlag == "" && *differenceFlag == "" {
		t.Skip("needs a flag")
	}
	h := cachetest.Harness{Driver: brokenDriver{}, FakeClock: true}
	if defects[*defectFlag].remote() || *defectFlag == noopDefect {
		h = remoteHarness(t)
		h.FakeClock = *defectFlag == noopDefect
	}
	if name, reason, ok := strings.Cut(*differenceFlag, "="); ok {
		h.Differences = map[string]string{name: reason}
	}
	cachetest.Run(t, h)
}

// runBroken runs a check of TestBroken, or all checks if check is "", in a new process.
// It returns the output and whether the process succeeded.
func runBroken(t *testing.T, check string, flags ...string) (output string, passed bool) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	run := "-test.run=^TestBroken$"
	for name := range strings.SplitSeq(check, "/") {
		if name != "" {
			run += "/^" + name + "$"
		}
	}
	args := append([]string{run, "-test.timeout=2m"}, flags...)
	out, err := exec.CommandContext(t.Context(), self, args...).CombinedOutput()
	return string(out), err == nil
}

func TestRun_Defects(t *testing.T) {
	t.Parallel()
	for _, name := range slices.Sorted(maps.Keys(defects)) {
		if testing.Short() && defects[name].remote() {
			continue // slow: needs outages
		}
		for check := range strings.SplitSeq(defects[name].detectedBy, ", ") {
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

func TestRun_NoopDriver(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("slow: real time")
	}
	out, _ := runBroken(t, "", "-cachetest.defect="+noopDefect)
	for _, check := range cachetest.Checks() {
		if !strings.Contains(out, "--- FAIL: TestBroken/"+check+" ") {
			t.Errorf("%s passed with a no-op store", check)
		}
	}
	if t.Failed() && !strings.Contains(out, "FAIL: TestBroken/Outage") {
		t.Log(out) // the process exited early
	}
}

func TestHarness_Differences(t *testing.T) {
	t.Run("are skipped", func(t *testing.T) {
		out, passed := runBroken(t, "Expiry/OneMillisecond",
			"-cachetest.defect=TTL rounded to seconds",
			"-cachetest.difference=Expiry/OneMillisecond=the clock has seconds only")
		if !passed {
			t.Errorf("the suite failed:\n%s", out)
		}
	})

	t.Run("need a known check and a reason", func(t *testing.T) {
		for declaration, want := range map[string]string{
			"Expiry/Unknown=because":  "which is not a check",
			"Expiry/OneMillisecond= ": "has no reason",
		} {
			out, passed := runBroken(t, "", "-cachetest.difference="+declaration)
			if passed || !strings.Contains(out, want) {
				t.Errorf("%s: the suite passed = %t, want a failure with %q:\n%s",
					declaration, passed, want, out)
			}
		}
	})
}
