package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"text/tabwriter"
)

// report is the result of a run of a suite.
type report struct {
	Family  string   `json:"family"`  // one of families
	Backend string   `json:"backend"` // name of the driver
	Source  string   `json:"source"`  // origin of the server
	Server  string   `json:"server"`  // product and version
	Tests   int      `json:"tests"`
	Outcome string   `json:"outcome"` // passed, failed or skipped
	Reason  string   `json:"reason"`  // reason of a skip
	Notes   []string `json:"notes"`   // measurements
}

// families are in the order of the table.
var families = []string{
	"database", "cache", "jobs", "mail", "lease", "failover", "documentation", "clients",
}

// isMergeable reports whether r and other differ only in Tests and Notes.
func (r *report) isMergeable(other *report) bool {
	a, b := *r, *other
	a.Tests, a.Notes, b.Tests, b.Notes = 0, nil, 0, nil
	return reflect.DeepEqual(a, b)
}

// read reads the reports in dir.
func read(dir string) ([]report, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, err
	}
	all := make([]report, 0, len(names))
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		var r report
		if err := json.Unmarshal(data, &r); err != nil {
			return nil, fmt.Errorf("report %s: %w", filepath.Base(name), err)
		}
		all = append(all, r)
	}
	slices.SortStableFunc(all, func(a, b report) int {
		return cmp.Or(
			cmp.Compare(slices.Index(families, a.Family), slices.Index(families, b.Family)),
			cmp.Compare(a.Backend, b.Backend), cmp.Compare(a.Source, b.Source),
			cmp.Compare(a.Server, b.Server), cmp.Compare(a.Outcome, b.Outcome),
			cmp.Compare(a.Reason, b.Reason),
		)
	})
	return merge(all), nil
}

// merge combines adjacent reports that differ only in Tests and Notes.
func merge(sorted []report) []report {
	var rows []report
	for _, r := range sorted {
		if last := len(rows) - 1; last >= 0 && rows[last].isMergeable(&r) {
			rows[last].Tests += r.Tests
			rows[last].Notes = append(rows[last].Notes, r.Notes...)
		} else {
			rows = append(rows, r)
		}
	}
	return rows
}

// table formats the reports.
func table(all []report) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "FAMILY\tBACKEND\tRAN ON\tSERVER\tTESTS\tOUTCOME")
	for _, r := range all {
		outcome := r.Outcome
		if r.Reason != "" {
			outcome = strings.ToUpper(outcome) + ": " + r.Reason
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\t%s\n",
			r.Family, r.Backend, r.Source, r.Server, r.Tests, outcome)
	}
	if len(all) == 0 {
		fmt.Fprintln(w, "no suite ran")
	}
	_ = w.Flush()
	b.WriteString(notes(all))
	return b.String()
}

// notes formats the measurements.
func notes(all []report) string {
	var b strings.Builder
	for _, r := range all {
		for i, note := range r.Notes {
			if i == 0 {
				fmt.Fprintf(&b, "\n%s, %s:\n", r.Family, r.Backend)
			}
			fmt.Fprintf(&b, "  %s\n", note)
		}
	}
	return b.String()
}

// conformance lists the families whose suites prove that a backend is usable.
var conformance = []string{"database", "cache", "mail", "documentation"}

// missing returns an error that lists the required backends without a conformance run.
func missing(all []report, required []string) error {
	var absent []string
	for _, name := range required {
		exists := slices.ContainsFunc(all, func(r report) bool {
			return r.Backend == name && r.Outcome != "skipped" &&
				slices.Contains(conformance, r.Family)
		})
		if !exists {
			absent = append(absent, name)
		}
	}
	if absent == nil {
		return nil
	}
	return fmt.Errorf("PLINTH_TEST_REQUIRE: no suite ran on %s", strings.Join(absent, ", "))
}
