// Package testreport lets a suite say on which backend it really ran.
//
// Each run writes one JSON file into the folder that PLINTH_TEST_REPORT names; the
// project's test command makes its closing table of these files. Without the variable
// nothing is written.
package testreport

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/plinthgo/plinth/core/defined/xenv"
)

// Folder is the variable that names the folder of the reports.
const Folder xenv.EnvKey = "PLINTH_TEST_REPORT"

// A Run describes one run of a suite on one backend.
type Run struct {
	// database, cache, jobs, mail, lease, failover or documentation
	Family  string `json:"family"`
	Backend string `json:"backend"` // the name of the driver or of the kind of server
	// where the server came from: in process, DSN, private server
	Source  string   `json:"source"`
	Server  string   `json:"server"`          // what the server says it is
	Tests   int      `json:"tests"`           // top-level tests of the suite
	Outcome string   `json:"outcome"`         // passed, failed or skipped; set by Record
	Reason  string   `json:"reason"`          // of a skip
	Notes   []string `json:"notes,omitempty"` // what was measured, a line each
}

// Record writes r when the test ends. The suite may fill in r until then.
func Record(tb testing.TB, r *Run) {
	tb.Helper()
	dir, set := xenv.GetEnv(Folder)
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

// write puts the run into a file of its own.
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
