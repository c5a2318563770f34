package e2e_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/plinthgo/plinth/conformance/testnode"
	"github.com/plinthgo/plinth/conformance/testreport"
	"github.com/plinthgo/plinth/docs/internal/e2e/chrome"
)

// Names of backends in the closing table and PLINTH_TEST_REQUIRE.
const (
	onNode     = "node"
	onChromium = "chromium"
)

// report records one test that runs on a backend.
func report(t *testing.T, backend string) *testreport.Run {
	t.Helper()
	if testing.Short() {
		t.Skip("starts servers and browsers")
	}
	r := &testreport.Run{Family: "documentation", Backend: backend, Tests: 1}
	testreport.Record(t, r)
	return r
}

// packages are the packages of the lock file.
var packages = sync.OnceValues(func() (programs *testnode.Programs, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	return testnode.Install(ctx, "npm")
})

// needNode returns the programs of the npm registry, and the report of the test.
func needNode(t *testing.T) (*testnode.Programs, *testreport.Run) {
	t.Helper()
	r := report(t, onNode)
	programs, err := packages()
	if err != nil {
		testreport.Skip(t, r, r.Backend, err)
	}
	r.Source, r.Server = "npm", "Node.js "+programs.Version()
	return programs, r
}

// needChromium returns the report of a test that needs a browser.
func needChromium(t *testing.T) *testreport.Run {
	t.Helper()
	r := report(t, onChromium)
	version, err := chrome.Version(t.Context())
	if err != nil {
		testreport.Skip(t, r, r.Backend, err)
	}
	r.Source, r.Server = "installed", version
	return r
}

// note adds a line to the closing table.
func note(r *testreport.Run, format string, args ...any) {
	r.Notes = append(r.Notes, fmt.Sprintf(format, args...))
}
