package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/plinthgo/plinth/tools/release/internal/plan"
	"github.com/plinthgo/plinth/tools/release/internal/prepare"
	"github.com/plinthgo/plinth/tools/release/internal/skew"
)

func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// showPlan prints the table of a plan, the details of its modules and the tested
// combinations.
func showPlan(w io.Writer, p *plan.Plan) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "MODULE\tSTATE\tTAG\tNEXT\tBUMP\tBREAKS\tADDS\tNOTES")
	for _, m := range p.Modules {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%d\t%d\t%d\n",
			m.Name, m.State, dash(m.Released), dash(m.Next), dash(string(m.Bump)),
			len(m.API.Breaking), len(m.API.Added), strings.Count("\n"+m.Notes, "\n- "))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, m := range p.Modules {
		showModule(w, m)
	}
	fmt.Fprintln(w)
	if err := showSkew(w, p); err != nil {
		return err
	}
	if len(p.Problems()) > 0 {
		fmt.Fprintln(w)
	}
	for _, problem := range p.Problems() {
		fmt.Fprintf(w, "PROBLEM  %s\n", problem)
	}
	return nil
}

func dash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

// showModule prints why a module is in the plan, its API changes and its requirements.
func showModule(w io.Writer, m plan.Module) {
	if m.Next == "" && len(m.Raises)+len(m.Keeps) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s\n", strings.TrimSpace(m.Name+" "+m.Next))
	for _, reason := range m.Reasons {
		fmt.Fprintf(w, "  why      %s\n", reason)
	}
	for _, what := range m.API.Breaking {
		fmt.Fprintf(w, "  breaks   %s\n", what)
	}
	for _, what := range m.Breaks {
		fmt.Fprintf(w, "  breaks   %s\n", what)
	}
	for _, what := range m.API.Added {
		fmt.Fprintf(w, "  adds     %s\n", what)
	}
	for _, r := range m.Raises {
		fmt.Fprintf(w, "  raises   %s %s to %s: %s\n", r.Module, r.From, r.To, r.Reason)
	}
	for _, r := range m.Keeps {
		fmt.Fprintf(w, "  keeps    %s %s, not %s: %s\n", r.Module, r.From, r.To, r.Reason)
	}
	for line := range strings.Lines(m.Notes) {
		fmt.Fprintf(w, "  notes    %s", line)
	}
}

// showSkew prints the tested combinations.
func showSkew(w io.Writer, p *plan.Plan) error {
	switch {
	case p.Skipped:
		fmt.Fprintln(w, "skew: skipped")
		return nil
	case len(p.Skew) == 0:
		fmt.Fprintln(w, "skew: nothing to test: neither tagged modules nor their siblings changed")
		return nil
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "MODULE\tAT\tWITH\tOUTCOME")
	for _, r := range p.Skew {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n",
			r.Module, r.Version, strings.Join(r.With, ", "), outcome(r))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, r := range p.Skew {
		if !r.OK {
			fmt.Fprintf(w, "\n%s %s with %s:\n%s\n",
				r.Module, r.Version, strings.Join(r.With, ", "), indent(r.Output))
		}
	}
	return nil
}

func outcome(r skew.Run) string {
	if r.OK {
		return "ok"
	}
	return "FAILS"
}

func indent(text string) string { return "  " + strings.ReplaceAll(text, "\n", "\n  ") }

// showPrepared prints the result of prepare.
func showPrepared(w io.Writer, r *prepare.Result) error {
	if r.Commit == "" {
		fmt.Fprintln(w, "nothing to do: the working tree matches the plan")
		return nil
	}
	for _, m := range r.Plan.Modules {
		if m.Next != "" {
			fmt.Fprintf(w, "%s %s\n", m.Name, m.Next)
		}
	}
	fmt.Fprintf(w, "commit %.12s changes:\n%s\n", r.Commit, r.Stat)
	return nil
}
