package jobtest

import (
	"fmt"
	"sync"
	"testing"

	"github.com/plinthgo/plinth/conformance/testreport"
)

// notes are measurements, one line each.
type notes struct {
	mu  sync.Mutex
	all []string
}

func (n *notes) addf(format string, args ...any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.all = append(n.all, fmt.Sprintf(format, args...))
}

// record writes a report of the run at the end of the test.
func record(t *testing.T, h Harness, n *notes) {
	t.Helper()
	replica := h.Open(t).Connect(t)
	run := &testreport.Run{
		Family: "jobs", Backend: replica.Engine.Capabilities().Name, Source: h.Source,
		Server: h.Server, Tests: len(checks()) - len(h.Differences),
	}
	if err := replica.Engine.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	testreport.Record(t, run)
	// Cleanups run in reverse order, so this runs before the report is written.
	t.Cleanup(func() { run.Notes = n.all })
}
