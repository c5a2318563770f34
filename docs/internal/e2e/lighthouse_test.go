package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plinthgo/plinth/conformance/testnode"
	"github.com/plinthgo/plinth/docs/internal/e2e/chrome"
)

// leastScore is the minimum score of a page in each Lighthouse category, of 100.
const leastScore = 99

// attempts is the number of runs before a page fails. Other suites use the machine at the
// same time, so the runs span several minutes. A run is counted with all its categories.
const attempts = 12

// Lighthouse throttles the processor to that of a phone. If its benchmark index is below
// sufficientIndex, the machine is too slow for the usual factor.
const (
	usualSlowdown   = 4.0
	sufficientIndex = 1000
)

func TestLighthouse(t *testing.T) {
	programs, _ := needNode(t)
	r := needChromium(t)
	s := start(t, binary(t))
	slowdown := usualSlowdown
	for _, path := range []string{"/", quickStart, "/docs/base-go/xdb"} {
		t.Run(path, func(t *testing.T) {
			var got measurement
			for n := 0; n < attempts && got.least() < leastScore; n++ {
				var err error
				if got, err = measure(t, programs, s.url(path), slowdown); err != nil {
					t.Log(err)
					continue
				}
				t.Logf("slowed down by %.1f, index %.0f: %v", slowdown, got.index, got)
				slowdown = got.slowdown()
			}
			if got.least() < leastScore {
				t.Errorf("%v, want at least %d in each", got, leastScore)
			}
			note(r, "Lighthouse %s: %v", path, got)
		})
	}
}

// A measurement is the result of a run of Lighthouse.
type measurement struct {
	scores map[string]int // of each category, of 100; 0 if not measured
	index  float64        // of the machine's speed during the run
}

// least returns the smallest score, or 0 without a result.
func (m measurement) least() int {
	if len(m.scores) == 0 {
		return 0
	}
	return slices.Min(slices.Collect(maps.Values(m.scores)))
}

// String returns the scores as text.
func (m measurement) String() string {
	var words []string
	for _, category := range slices.Sorted(maps.Keys(m.scores)) {
		words = append(words, fmt.Sprintf("%s %d", category, m.scores[category]))
	}
	return strings.Join(words, ", ")
}

// slowdown returns the throttling factor of the next run. It is smaller on a busy
// machine, which is already slower.
func (m measurement) slowdown() float64 {
	return max(1, min(usualSlowdown, usualSlowdown*m.index/sufficientIndex))
}

// measure runs Lighthouse once.
func measure(
	t *testing.T, programs *testnode.Programs, url string, slowdown float64,
) (measurement, error) {
	t.Helper()
	path, err := chrome.Find()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	out := filepath.Join(t.TempDir(), "report.json")
	cmd := programs.Command(ctx, programs.Path("lighthouse", "cli", "index.js"), url,
		"--output=json", "--output-path="+out,
		fmt.Sprintf("--throttling.cpuSlowdownMultiplier=%.1f", slowdown),
		"--quiet", "--no-enable-error-reporting", "--disable-full-page-screenshot",
		"--chrome-flags=--"+strings.Join(chrome.Flags(), " --"))
	cmd.Env = append(cmd.Env, "CHROME_PATH="+path)
	if text, err := finish(t, cmd); err != nil {
		return measurement{}, fmt.Errorf("lighthouse: %w\n%s", err, text)
	}
	data, err := os.ReadFile(out)
	if err != nil {
		return measurement{}, err
	}
	return read(data)
}

// read reads Lighthouse's report.
func read(data []byte) (measurement, error) {
	var report struct {
		Categories  map[string]struct{ Score *float64 }
		Environment struct{ BenchmarkIndex float64 }
	}
	if err := json.Unmarshal(data, &report); err != nil {
		return measurement{}, fmt.Errorf("lighthouse wrote %.200s: %w", data, err)
	}
	if len(report.Categories) < 4 || report.Environment.BenchmarkIndex <= 0 {
		return measurement{}, fmt.Errorf("lighthouse measured %d categories, index %f",
			len(report.Categories), report.Environment.BenchmarkIndex)
	}
	m := measurement{scores: map[string]int{}, index: report.Environment.BenchmarkIndex}
	for category, c := range report.Categories {
		m.scores[category] = 0
		if c.Score != nil {
			m.scores[category] = int(*c.Score*100 + 0.5)
		}
	}
	return m, nil
}
