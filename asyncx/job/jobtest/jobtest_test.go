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

// The suite must fail for a broken engine, so it runs in a process of its own there.
var (
	defectFlag = flag.String("jobtest.defect", "", "run the suite on an engine with this defect")
	lawfulFlag = flag.String("jobtest.lawful", "", "run the suite with this difference declared")
)

// harness returns one of stores in the memory, whose engines wrap wraps.
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

func right(_ *memory.Store, e *memory.Engine) driver.Engine { return e }

func TestARunIsReported(t *testing.T) {
	if *lawfulFlag != "" {
		t.Skip("another test")
	}
	dir := t.TempDir()
	t.Setenv("PLINTH_TEST_REPORT", dir)
	t.Run("run", func(t *testing.T) {
		h := harness(right)
		h.Source, h.Server, h.Differences = "in process", "this process", map[string]string{}
		for _, name := range jobtest.Checks() {
			if name != "Crowd/EachJobRunsOnceWhoeverTakesIt" {
				h.Differences[name] = "only the report is tested"
			}
		}
		jobtest.Run(t, h)
	})
	files, err := filepath.Glob(filepath.Join(dir, "run-*.json"))
	if err != nil || len(files) != 1 {
		t.Fatalf("reports = %v, %v; want one", files, err)
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

// TestBroken and TestLawful are the processes that the tests below start.
func TestBroken(t *testing.T) {
	d, ok := defects()[*defectFlag]
	if !ok {
		t.Skip("needs a flag")
	}
	h := harness(func(m *memory.Store, e *memory.Engine) driver.Engine {
		b := newBroken(m, e)
		d.breaks(b)
		return b
	})
	h.Timeout = 3 * time.Second
	jobtest.Run(t, h)
}

func TestLawful(t *testing.T) {
	if *lawfulFlag == "" {
		t.Skip("needs a flag")
	}
	name, reason, _ := strings.Cut(*lawfulFlag, "=")
	h := harness(right)
	h.Differences = map[string]string{name: reason}
	jobtest.Run(t, h)
}

// defects are all of them.
func defects() map[string]defect {
	all := maps.Clone(storeDefects)
	maps.Copy(all, orderDefects)
	maps.Copy(all, workerDefects)
	return all
}

// play runs this test binary.
func play(t *testing.T, args ...string) (out string, err error) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	data, err := exec.CommandContext(t.Context(), self,
		append(args, "-test.timeout=1m", "-test.parallel=16")...).CombinedOutput()
	return string(data), err
}

func TestEveryDefectIsFound(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a while; without -short it runs")
	}
	all := defects()
	outs := make(map[string]string, len(all))
	var mu sync.Mutex
	var wg sync.WaitGroup
	free := make(chan struct{}, 6)
	for name, d := range all {
		wg.Go(func() {
			free <- struct{}{}
			defer func() { <-free }()
			out, _ := play(t, "-jobtest.defect="+name, "-test.run="+only("TestBroken", d.found))
			mu.Lock()
			defer mu.Unlock()
			outs[name] = out
		})
	}
	wg.Wait()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		for _, check := range all[name].found {
			if !slices.Contains(jobtest.Checks(), check) {
				t.Errorf("%q is no check", check)
			}
			if !strings.Contains(outs[name], "--- FAIL: TestBroken/suite/"+check+" ") {
				t.Errorf("the check %s does not find the defect %q:\n%s", check, name, outs[name])
			}
		}
	}
}

// only is the pattern of those checks: they have two parts.
func only(test string, checks []string) string {
	var first, second []string
	for _, c := range checks {
		a, b, _ := strings.Cut(c, "/")
		first, second = append(first, a), append(second, b)
	}
	return "^" + test + "$/^suite$/^(" + strings.Join(first, "|") + ")$/^(" +
		strings.Join(second, "|") + ")$"
}

func TestEveryCheckFindsADefect(t *testing.T) {
	for _, check := range jobtest.Checks() {
		if !slices.ContainsFunc(slices.Collect(maps.Values(defects())),
			func(d defect) bool { return slices.Contains(d.found, check) }) {
			t.Errorf("no defect is there for the check %s", check)
		}
	}
}

func TestADifferenceIsACheckAndHasAReason(t *testing.T) {
	for _, tc := range []struct {
		name, lawful, want string
	}{
		{
			name: "an unknown check", lawful: "Nonsense=so it is",
			want: `Differences contains "Nonsense", which is not a check`,
		},
		{
			name: "no reason", lawful: "Calls/PingAnswers= ",
			want: `Differences contains no reason for "Calls/PingAnswers"`,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			out, err := play(t, "-jobtest.lawful="+tc.lawful,
				"-test.run=^TestLawful$/^suite$/^Calls$/^PingAnswers$")
			if err == nil || !strings.Contains(out, tc.want) {
				t.Errorf("the suite ended with %v, want %s:\n%s", err, tc.want, out)
			}
		})
	}
}
