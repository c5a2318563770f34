package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/plinthgo/plinth/tools/plinth/internal/doctor"
	"github.com/plinthgo/plinth/tools/plinth/internal/service"
	"github.com/plinthgo/plinth/tools/plinth/internal/term"
)

// defaultTimeout limits each check of doctor.
const defaultTimeout = 10 * time.Second

func newDoctor(p *term.Printer) *cobra.Command {
	timeout := defaultTimeout
	c := &cobra.Command{
		Use:     "doctor",
		GroupID: groupMaintain,
		Short:   "Diagnose problems of a service and suggest fixes",
		Long: "Check the service in the current directory: Go version, go.mod, .env and all variables, imported\n" +
			"and configured drivers, ports, database, cache, mail, clocks and node IDs.\n\n" +
			"The command prints every problem with a fix and exits with 3 if it finds one. Warnings do not\n" +
			"change the exit code. The command changes and downloads nothing, and prints no secrets.",
		Example:           "  plinth doctor\n  plinth doctor --json --timeout 3s",
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(c *cobra.Command, _ []string) error {
			if timeout <= 0 {
				return usagef("invalid --timeout %s: must be positive", timeout)
			}
			return diagnose(c.Context(), p, timeout)
		},
	}
	c.Flags().DurationVar(&timeout, "timeout", defaultTimeout, "timeout of each check")
	return c
}

func diagnose(ctx context.Context, p *term.Printer, timeout time.Duration) error {
	s, err := service.Find(".")
	if err != nil {
		return err
	}
	p.Step("checking %s", s.Root)
	if err := s.Enter(ctx); err != nil {
		return err
	}
	s.ReadVariables(ctx)
	found := doctor.Run(ctx, s, doctor.Options{Timeout: timeout})
	if err := ctx.Err(); err != nil {
		return err
	}
	count := map[doctor.Status]int{}
	for _, f := range found {
		count[f.Status]++
	}
	if p.JSON {
		err = p.WriteJSON(struct {
			Folder   string           `json:"folder"`
			Findings []doctor.Finding `json:"findings"`
			Problems int              `json:"problems"`
			Warnings int              `json:"warnings"`
			OK       int              `json:"ok"`
			Skipped  int              `json:"skipped"`
		}{
			s.Root, found, count[doctor.Problem], count[doctor.Warning], count[doctor.OK],
			count[doctor.Skipped],
		})
	} else {
		showFindings(p, found)
		p.Note("%s, %s, %d ok, %d skipped",
			plural(count[doctor.Problem], "problem"), plural(count[doctor.Warning], "warning"),
			count[doctor.OK], count[doctor.Skipped])
	}
	if err == nil && count[doctor.Problem] > 0 {
		return errFound
	}
	return err
}

// showFindings prints one row per finding.
func showFindings(p *term.Printer, found []doctor.Finding) {
	tones := map[doctor.Status]term.Tone{
		doctor.OK: term.Good, doctor.Warning: term.Caution, doctor.Problem: term.Bad,
		doctor.Skipped: term.Faint,
	}
	rows := make([][]string, len(found))
	for i, f := range found {
		rows[i] = []string{p.Paint(tones[f.Status], string(f.Status)), f.Check, f.Detail}
		if f.Fix != "" {
			rows[i][2] += " " + p.Paint(term.Strong, "->") + " " + f.Fix
		}
	}
	p.Table([]string{"STATUS", "CHECK", "FOUND -> FIX"}, rows)
}
