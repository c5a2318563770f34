// Package testreport records the backends on which a conformance suite ran.
//
// Each run writes one JSON file to the directory in PLINTH_TEST_REPORT. The project's
// test command prints a summary of these files. If the variable is not set, nothing is
// written.
package testreport

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/plinthgo/plinth/core/defined/xenv"
)

const (
	// DirVariable is the variable that contains the directory of the reports.
	DirVariable xenv.EnvKey = "PLINTH_TEST_REPORT"
	// RequireVariable is the variable that contains the required backends, separated by
	// commas.
	RequireVariable xenv.EnvKey = "PLINTH_TEST_REQUIRE"
)

// Run describes one run of a suite on one backend.
type Run struct {
	// Family is database, cache, jobs, mail, lease, failover, documentation or clients.
	Family  string `json:"family"`
	Backend string `json:"backend"` // the name of the driver or the kind of server
	// Source is the origin of the server, such as in process, DSN or private server.
	Source  string   `json:"source"`
	Server  string   `json:"server"`          // name and version of the server
	Tests   int      `json:"tests"`           // number of top-level tests of the suite
	Outcome string   `json:"outcome"`         // passed, failed or skipped; set by Record
	Reason  string   `json:"reason"`          // of a skip
	Notes   []string `json:"notes,omitempty"` // measurements, one line each
}

// Record writes r when the test completes. The suite may modify r until then.
func Record(tb testing.TB, r *Run) {
	tb.Helper()
	dir, set := xenv.GetEnv(DirVariable)
	if !set {
		return
	}
	tb.Cleanup(func() {
		switch {
		case tb.Failed():
			r.Outcome = "failed"
		case tb.Skipped():
			r.Outcome = "skipped"
		default:
			r.Outcome = "passed"
		}
		if err := write(dir, r); err != nil {
			tb.Errorf("report the run: %v", err)
		}
	})
}

// Skip skips the test of r because a backend is missing; err is the reason. If
// RequireVariable contains the backend, Skip fails the test.
func Skip(tb testing.TB, r *Run, backend string, err error) {
	tb.Helper()
	names, _ := xenv.GetEnv(RequireVariable)
	isSeparator := func(c rune) bool { return c == ',' || c == ' ' }
	if slices.Contains(strings.FieldsFunc(names, isSeparator), backend) {
		tb.Fatalf("%s is required: %v", backend, err)
	}
	r.Reason = err.Error()
	tb.Skip("SKIPPED: " + err.Error())
}

// write writes the run to a new file.
func write(dir string, r *Run) error {
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, "run-*.json")
	if err != nil {
		return err
	}
	if _, err := f.Write(data); err != nil {
		_ = f.Close()
		return err
	}
	return f.Close()
}
