package cli

import (
	"cmp"
	"context"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/plinthgo/plinth/tools/plinth/internal/migrate"
	"github.com/plinthgo/plinth/tools/plinth/internal/redact"
	"github.com/plinthgo/plinth/tools/plinth/internal/term"
)

// migrateCall is an invocation of migrate with its flags.
type migrateCall struct {
	p     *term.Printer
	dir   string
	check bool
}

func newMigrate(p *term.Printer) *cobra.Command {
	call := &migrateCall{p: p}
	up := &cobra.Command{
		Use:   "up",
		Short: "Apply pending migrations",
		Long: "Apply pending migrations in the order of their versions, under the lock that services use at\n" +
			"startup.\n\n" +
			"A failed migration resumes at its first statement if the database rolled it back, and otherwise\n" +
			"after the last committed statement.",
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(c *cobra.Command, _ []string) error {
			return call.run(c.Context(), call.up)
		},
	}
	status := &cobra.Command{
		Use:               "status",
		Short:             "List migrations with their state",
		Long:              "List the migrations of the directory and of the database with their state. The command changes nothing.",
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(c *cobra.Command, _ []string) error {
			return call.run(c.Context(), call.status)
		},
	}
	status.Flags().BoolVar(&call.check, "check", false, "exit with 3 if a migration is not applied")
	c := commandGroup(&cobra.Command{
		Use:     "migrate",
		GroupID: groupMaintain,
		Short:   "Apply or list SQL migrations",
		Long: "Apply or list the SQL migrations of the service in the current directory. The environment of the\n" +
			"service selects the database. The files are those that the service passes to\n" +
			"xoptdatabase.WithMigrations. The service itself creates the tables of entities (WithAutoMigrate)\n" +
			"at startup.",
		Example: "  plinth migrate status\n  plinth migrate up --dir db/migrations",
	}, up, status)
	c.PersistentFlags().StringVar(&call.dir, "dir", migrate.DefaultDir,
		"directory of the SQL files")
	if err := c.MarkPersistentFlagDirname("dir"); err != nil {
		panic(err)
	}
	return c
}

// run applies the environment of the service and calls do with its migrations.
func (c *migrateCall) run(
	ctx context.Context, do func(context.Context, *migrate.Source) error,
) error {
	dir := c.dir
	// The default directory is relative to go.mod, --dir to the working directory.
	if dir != migrate.DefaultDir {
		abs, err := filepath.Abs(dir)
		if err != nil {
			return err
		}
		dir = abs
	}
	if _, err := findService(ctx, c.p); err != nil {
		return err
	}
	ctx = redact.CaptureWarnings(ctx, func(line string) { c.p.Warn("%s", line) })
	source, err := migrate.Open(dir)
	if err != nil {
		return err
	}
	c.p.Step("connecting to %s", source.Database)
	return do(ctx, source)
}

func (c *migrateCall) up(ctx context.Context, s *migrate.Source) error {
	applied, all, err := s.Up(ctx)
	if c.p.JSON {
		result := struct {
			Database   string        `json:"database"`
			Applied    []migrate.Row `json:"applied"`
			Migrations []migrate.Row `json:"migrations"`
		}{s.Database, append([]migrate.Row{}, applied...), append([]migrate.Row{}, all...)}
		return cmp.Or(err, c.p.WriteJSON(result))
	}
	for _, r := range applied {
		c.p.Done("applied %s", r.File)
	}
	if err == nil {
		c.p.Note("the schema of %s is up to date (%s applied)",
			s.Database, plural(len(migrate.Applied(all)), "migration"))
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
		}{s.Database, append([]migrate.Row{}, rows...)})
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
		"applied": term.Good, "pending": term.Caution,
		"running": term.Caution, "missing": term.Faint,
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
