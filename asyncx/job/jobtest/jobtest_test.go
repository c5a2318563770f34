package jobtest_test

import (
	"encoding/json"
	"flag"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/plinthgo/plinth/asyncx/job/driver"
	"github.com/plinthgo/plinth/asyncx/job/internal/memory"
	"github.com/plinthgo/plinth/asyncx/job/jobtest"
)

// The suite must fail with a broken engine, so the tests run it in a child process with
// these flags.
var (
	defectFlag = flag.String("jobtest.defect", "",
		"run the suite on an engine with this defect")
	differenceFlag = flag.String("jobtest.difference", "",
		"run the suite with this difference declared")
)

// harness returns a harness with in-memory stores and wrapped engines.
func harness(wrap func(m *memory.Store, e *memory.Engine) driver.Engine) jobtest.Harness {
	return jobtest.Harness{Transaction: memory.Transaction, Open: func(testing.TB) jobtest.Store {
		m := memory.New()
		return jobtest.Store{
			Connect: func(testing.TB) jobtest.Replica {
				e := m.Connect()
				return jobtest.Replica{
					Engine:     wrap(m, e),
					Disconnect: func(testing.TB) { e.SetAway(true) },
					Reconnect:  func(testing.TB) { e.SetAway(false) },
				}
			},
			Stop:  func(testing.TB) { m.SetDown(true) },
			Start: func(testing.TB) { m.SetDown(false) },
		}
	}}
}

// base does not wrap the engine.
func base(_ *memory.Store, e *memory.Engine) driver.Engine { return e }

func TestRun_Report(t *testing.T) {
	if *differenceFlag != "" {
		t.Skip("another process runs this test")
	}
	dir := t.TempDir()
	t.Setenv("PLINTH_TEST_REPORT", dir)
	t.Run("run", func(t *testing.T) {
		h := harness(base)
		h.Source, h.Server, h.Differences = "in process", "this process", map[string]string{}
		for _, name := range jobtest.Checks() {
			if name != "Concurrency/EachJobRunsOnce" {
				h.Differences[name] = "only the report is tested"
			}
		}
		jobtest.Run(t, h)
	})
	files, err := filepath.Glob(filepath.Join(dir, "run-*.json"))
	if err != nil || len(files) != 1 {
		t.Fatalf("reports = %v, %v; want 1", files, err)
	}
	data, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	var r struct {
		Family, Backend, Source, Outcome string
		Tests                            int
		Notes                            []string
	}
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	if r.Family != "jobs" || !strings.HasPrefix(r.Backend, "memory") || r.Source != "in process" ||
		r.Outcome != "passed" || r.Tests != 1 || len(r.Notes) != 1 {
		t.Errorf("report = %+v", r)
	}
}

// TestBroken runs the suite on a broken engine, in a child process of TestRun_Defects.
func TestBroken(t *testing.T) {
	d, ok := defects()[*defectFlag]
	if !ok {
		t.Skip("needs the flag of a child process")
	}
	h := harness(func(m *memory.Store, e *memory.Engine) driver.Engine {
		b := newBroken(m, e)
		d.apply(b)
		return b
	})
	h.Timeout = 3 * time.Second
	jobtest.Run(t, h)
}

// TestDeclared runs the suite with a declared difference, in a child process of
// TestRun_Differences.
func TestDeclared(t *testing.T) {
	if *differenceFlag == "" {
		t.Skip("needs the flag of a child process")
	}
	name, reason, _ := strings.Cut(*differenceFlag, "=")
	h := harness(base)
	h.Differences = map[string]string{name: reason}
	jobtest.Run(t, h)
}

// defects returns all defects.
func defects() map[string]defect {
	all := maps.Clone(storeDefects)
	maps.Copy(all, orderDefects)
	maps.Copy(all, workerDefects)
	return all
}

// runSelf runs this test binary and returns its output.
func runSelf(t *testing.T, args ...string) (out string, err error) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	data, err := exec.CommandContext(t.Context(), self,
		append(args, "-test.timeout=1m", "-test.parallel=16")...).CombinedOutput()
	return string(data), err
}

func TestRun_Defects(t *testing.T) {
	if testing.Short() {
		t.Skip("slow test")
	}
	all := defects()
	outs := make(map[string]string, len(all))
	var mu sync.Mutex
	var wg sync.WaitGroup
	slots := make(chan struct{}, 6)
	for name, d := range all {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			out, _ := runSelf(t, "-jobtest.defect="+name, "-test.run="+only("TestBroken", d.checks))
			mu.Lock()
			defer mu.Unlock()
			outs[name] = out
		})
	}
	wg.Wait()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		for _, check := range all[name].checks {
			if !slices.Contains(jobtest.Checks(), check) {
				t.Errorf("%q is not a check", check)
			}
			if !strings.Contains(outs[name], "--- FAIL: TestBroken/suite/"+check+" ") {
				t.Errorf("the check %s does not detect the defect %q:\n%s", check, name, outs[name])
			}
		}
	}
}

// only returns the -test.run pattern of checks, whose names have two parts.
func only(test string, checks []string) string {
	var first, second []string
	for _, c := range checks {
		a, b, _ := strings.Cut(c, "/")
		first, second = append(first, a), append(second, b)
	}
	return "^" + test + "$/^suite$/^(" + strings.Join(first, "|") + ")$/^(" +
		strings.Join(second, "|") + ")$"
}

func TestChecks(t *testing.T) {
	for _, check := range jobtest.Checks() {
		if !slices.ContainsFunc(slices.Collect(maps.Values(defects())),
			func(d defect) bool { return slices.Contains(d.checks, check) }) {
			t.Errorf("no defect is detected by the check %s", check)
		}
	}
}

func TestRun_Differences(t *testing.T) {
	for _, tc := range []struct {
		name, difference, want string
	}{
		{
			name: "an unknown check", difference: "Nonsense=a reason",
			want: `Differences contains "Nonsense", which is not a check`,
		},
		{
			name: "no reason", difference: "Calls/Ping= ",
			want: `Differences contains no reason for "Calls/Ping"`,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			out, err := runSelf(t, "-jobtest.difference="+tc.difference,
				"-test.run=^TestDeclared$/^suite$/^Calls$/^Ping$")
			if err == nil || !strings.Contains(out, tc.want) {
				t.Errorf("the suite = %v, want a failure with %s:\n%s", err, tc.want, out)
			}
		})
	}
}
