package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
)

// ran is what one run of a suite says of itself.
type ran struct {
	Family  string `json:"family"`  // database or cache
	Backend string `json:"backend"` // the driver's name
	Source  string `json:"source"`  // where the server came from
	Server  string `json:"server"`  // what the server says it is
	Tests   int    `json:"tests"`
	Outcome string `json:"outcome"` // passed, failed or skipped
	Reason  string `json:"reason"`  // of a skip
}

// read collects the reports in dir.
func read(dir string) ([]ran, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, err
	}
	all := make([]ran, 0, len(names))
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		var r ran
		if err := json.Unmarshal(data, &r); err != nil {
			return nil, fmt.Errorf("report %s: %w", filepath.Base(name), err)
		}
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b ran) int {
		return cmp.Or(-cmp.Compare(a.Family, b.Family), cmp.Compare(a.Backend, b.Backend), cmp.Compare(a.Source, b.Source))
	})
	return all, nil
}

// table shows the reports to people.
func table(all []ran) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "FAMILY\tBACKEND\tRAN ON\tSERVER\tTESTS\tOUTCOME")
	for _, r := range all {
		outcome := r.Outcome
		if r.Reason != "" {
			outcome = strings.ToUpper(outcome) + ": " + r.Reason
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\t%s\n", r.Family, r.Backend, r.Source, r.Server, r.Tests, outcome)
	}
	if len(all) == 0 {
		fmt.Fprintln(w, "no suite ran")
	}
	_ = w.Flush()
	return b.String()
}

// missing returns an error that names the required backends on which no suite has run.
func missing(all []ran, required []string) error {
	var absent []string
	for _, name := range required {
		there := slices.ContainsFunc(all, func(r ran) bool { return r.Backend == name && r.Outcome != "skipped" })
		if !there {
			absent = append(absent, name)
		}
	}
	if absent == nil {
		return nil
	}
	return fmt.Errorf("PLINTH_TEST_REQUIRE: no suite ran on %s", strings.Join(absent, ", "))
}
