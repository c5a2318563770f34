package cli

import (
	"cmp"
	"context"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/plinthgo/plinth/tools/plinth/internal/hush"
	"github.com/plinthgo/plinth/tools/plinth/internal/migrate"
	"github.com/plinthgo/plinth/tools/plinth/internal/term"
)

// migrateCall is the command migrate with its flags.
type migrateCall struct {
	p     *term.Printer
	dir   string
	check bool
}

func newMigrate(p *term.Printer) *cobra.Command {
	call := &migrateCall{p: p}
	up := &cobra.Command{
		Use:   "up",
		Short: "Apply the SQL files that the database does not know yet",
		Long: "Apply the SQL files that the database does not know yet, in the order of their versions, each once, under the lock that\n" +
			"the starts of services use too. A file that failed is gone on with: from its beginning where the database has undone it,\n" +
			"else behind the statements that were kept.",
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(c *cobra.Command, _ []string) error {
			return call.run(c.Context(), call.up)
		},
	}
	status := &cobra.Command{
		Use:               "status",
		Short:             "List the migrations and where each stands",
		Long:              "List the migrations of the folder and of the database, and where each stands. Nothing is changed.",
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(c *cobra.Command, _ []string) error {
			return call.run(c.Context(), call.status)
		},
	}
	status.Flags().BoolVar(&call.check, "check", false, "exit with 3 where one is not applied")
	c := family(&cobra.Command{
		Use:     "migrate",
		GroupID: groupCare,
		Short:   "Apply or list the SQL migrations of a service",
		Long: "Apply or list the SQL migrations of the service in this folder, against the database of its environment. The files are\n" +
			"those that xoptdatabase.WithMigrations gets. Tables of entities (WithAutoMigrate) are the service's own: it makes them\n" +
			"when it starts.",
		Example: "  plinth migrate status\n  plinth migrate up --dir db/migrations",
	}, up, status)
	c.PersistentFlags().StringVar(&call.dir, "dir", migrate.DefaultDir, "folder of the SQL files")
	if err := c.MarkPersistentFlagDirname("dir"); err != nil {
		panic(err)
	}
	return c
}

// run does one of the two within the service's folder.
func (c *migrateCall) run(
	ctx context.Context, do func(context.Context, *migrate.Source) error,
) error {
	dir := c.dir
	if dir != migrate.DefaultDir { // it is meant from here, and the other one from go.mod
		abs, err := filepath.Abs(dir)
		if err != nil {
			return err
		}
		dir = abs
	}
	if _, err := enter(ctx, c.p); err != nil {
		return err
	}
	ctx = hush.Context(ctx, func(line string) { c.p.Warn("%s", line) })
	source, err := migrate.Open(dir)
	if err != nil {
		return err
	}
	c.p.Step("connecting to %s", source.Where)
	return do(ctx, source)
}

func (c *migrateCall) up(ctx context.Context, s *migrate.Source) error {
	applied, all, err := s.Up(ctx)
	if c.p.JSON {
		result := struct {
			Database   string        `json:"database"`
			Applied    []migrate.Row `json:"applied"`
			Migrations []migrate.Row `json:"migrations"`
		}{s.Where, append([]migrate.Row{}, applied...), append([]migrate.Row{}, all...)}
		return cmp.Or(err, c.p.WriteJSON(result))
	}
	for _, r := range applied {
		c.p.Done("applied %s", r.File)
	}
	if err == nil {
		c.p.Note("the schema of %s is up to date (%s applied)",
			s.Where, plural(len(migrate.Applied(all)), "migration"))
	}
	return err
}

func (c *migrateCall) status(ctx context.Context, s *migrate.Source) error {
	rows, err := s.Status(ctx)
	if err != nil {
		return err
	}
	if c.p.JSON {
		err = c.p.WriteJSON(struct {
			Database   string        `json:"database"`
			Migrations []migrate.Row `json:"migrations"`
		}{s.Where, append([]migrate.Row{}, rows...)})
	} else {
		c.list(rows)
	}
	for _, r := range rows {
		if err == nil && c.check && !r.IsApplied() && !r.IsMissing() {
			return errFound
		}
	}
	return err
}

func (c *migrateCall) list(rows []migrate.Row) {
	tones := map[string]term.Tone{
		"applied": term.Good, "pending": term.Careful,
		"running": term.Careful, "missing": term.Faint,
	}
	cells := make([][]string, len(rows))
	for i, r := range rows {
		tone, known := tones[r.State]
		if !known {
			tone = term.Bad
		}
		at := ""
		if r.AppliedAt != nil {
			at = r.AppliedAt.UTC().Format(time.RFC3339)
		}
		file := cmp.Or(r.File, r.Name)
		if r.Error != "" {
			file += ": " + r.Error
		}
		cells[i] = []string{c.p.Paint(tone, r.State), r.Version, orDash(at), file}
	}
	c.p.Table([]string{"STATE", "VERSION", "APPLIED", "FILE"}, cells)
}
