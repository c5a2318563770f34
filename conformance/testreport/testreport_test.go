package testreport_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/plinthgo/plinth/conformance/testreport"
)

func TestRecord(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(testreport.DirVariable.String(), dir)
	t.Run("suite", func(t *testing.T) {
		r := &testreport.Run{Family: "database", Backend: "sqlite", Source: "in process"}
		testreport.Record(t, r)
		r.Tests = 7
	})
	t.Run("skipped", func(t *testing.T) {
		testreport.Record(t, &testreport.Run{
			Family: "database", Backend: "absent", Reason: "no server",
		})
		t.Skip("no server") // intended
	})
	names, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(names) != 2 {
		t.Fatalf("reports = %q, %v; want two", names, err)
	}
	got := map[string]testreport.Run{}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var r testreport.Run
		if err := json.Unmarshal(data, &r); err != nil {
			t.Fatal(err)
		}
		got[r.Backend] = r
	}
	if r := got["sqlite"]; r.Outcome != "passed" || r.Tests != 7 {
		t.Errorf("run = %+v, want passed with 7 tests", r)
	}
	if r := got["absent"]; r.Outcome != "skipped" || r.Reason != "no server" {
		t.Errorf("run = %+v, want skipped because of a missing server", r)
	}
}
