package testreport_test

import (
	"encoding/json"
	"errors"
	"fmt"
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

// recorder records how the test would complete.
type recorder struct {
	testing.TB

	failure, skip string
}

func (*recorder) Helper() {}

// Fatalf panics, because the real method does not return.
func (r *recorder) Fatalf(format string, args ...any) {
	r.failure = fmt.Sprintf(format, args...)
	panic(r)
}

func (r *recorder) Skip(args ...any) {
	r.skip = fmt.Sprint(args...)
	panic(r)
}

func TestSkip(t *testing.T) {
	missing := errors.New("npm is missing")
	for _, tc := range []struct{ name, required, failure, skip string }{
		{name: "skips an optional backend", required: "redis", skip: "SKIPPED: npm is missing"},
		{
			name: "fails for a required backend", required: "redis, node",
			failure: "node is required: npm is missing",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Setenv(testreport.RequireVariable.String(), tc.required)
			got, run := &recorder{}, &testreport.Run{}
			func() {
				defer func() { _ = recover() }()
				testreport.Skip(got, run, "node", missing)
			}()
			if got.failure != tc.failure || got.skip != tc.skip {
				t.Errorf("failure %q, skip %q; want %q and %q",
					got.failure, got.skip, tc.failure, tc.skip)
			}
			if want := map[bool]string{true: missing.Error()}[tc.skip != ""]; run.Reason != want {
				t.Errorf("reason = %q, want %q", run.Reason, want)
			}
		})
	}
}
