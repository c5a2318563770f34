package migrate

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/major/xdb/internal/dbconn"
)

// step is a file and its state.
type step struct {
	file

	record record
	state  State
}

// plan compares the files with the table.
type plan struct {
	files    []file
	steps    []step
	pending  []file
	missing  []record // without a file, in order
	newest   record   // the last one that is applied
	problems []error
}

func newPlan(files []file, known map[string]record) *plan {
	p := &plan{files: files}
	named := map[string]bool{}
	for _, f := range files {
		named[f.migration] = true
	}
	for name, r := range known {
		if r.is(Applied) && r.version() >= p.newest.version() {
			p.newest = r
		}
		if !named[name] {
			p.missing = append(p.missing, r)
		}
	}
	slices.SortFunc(p.missing, func(a, b record) int { return cmp.Compare(a.version(), b.version()) })
	for _, f := range files {
		p.add(f, known[f.migration])
	}
	return p
}

// add finds the state of a file.
func (p *plan) add(f file, r record) {
	state, err := f.compare(r)
	if err == nil && state != Applied && r.Done == 0 {
		state, err = p.place(f, state)
	}
	if err != nil {
		p.problems = append(p.problems, fmt.Errorf("xdb: migration %s: %w", f.Name, err))
	} else if state != Applied {
		p.pending = append(p.pending, f)
	}
	p.steps = append(p.steps, step{file: f, record: r, state: state})
}

// place checks that a file of which nothing is applied may still be applied.
func (p *plan) place(f file, state State) (State, error) {
	for _, r := range p.missing {
		if r.version() == f.version && (r.is(Applied) || r.Done > 0) {
			return Changed, fmt.Errorf("the database knows its version as %s: "+
				"give it back that name, or give a new migration a version of its own", r.Name)
		}
	}
	if f.version < p.newest.version() {
		return Late, fmt.Errorf("it comes before %s, which is applied: give it a higher version", p.newest.Name)
	}
	return state, nil
}

// compare returns the state of a file by its row alone.
func (f file) compare(r record) (State, error) {
	switch {
	case !r.stored:
		return Pending, nil
	case r.is(Applied) && r.SHA256 != f.SHA256:
		return Changed, fmt.Errorf("it has changed since it was applied (SHA-256 %.12s then, %.12s now): "+
			"restore it, and put the change into a new migration", r.SHA256, f.SHA256)
	case !r.is(Applied) && r.Done > 0 && (r.Done > len(f.digests) || f.digests[r.Done-1] != r.DoneSHA256):
		return Changed, fmt.Errorf("its first %d statements are applied and have changed since: "+
			"restore them, and change it from statement %d on only", r.Done, r.Done+1)
	default:
		return State(r.State), nil
	}
}

// list returns the migrations of the files and those without a file, in the order of their versions.
func (p *plan) list() []Migration {
	all := make([]Migration, 0, len(p.steps)+len(p.missing))
	for _, s := range p.steps {
		m := s.record.describe(s.state)
		m.Name, m.File, m.SHA256, m.Statements = s.migration, s.Name, s.SHA256, len(s.Statements)
		all = append(all, m)
	}
	for _, r := range p.missing {
		all = append(all, r.describe(Missing))
	}
	slices.SortStableFunc(all, func(a, b Migration) int {
		return cmp.Compare(record{Name: a.Name}.version(), record{Name: b.Name}.version())
	})
	return all
}

// apply applies what is pending, each file under its own lock, so that a process that
// waits sees what another one has done.
func (p *plan) apply(ctx context.Context, info *dbconn.Info, db *gorm.DB) error {
	p.report(ctx, info.Log)
	for i, f := range p.pending {
		r := &run{info: info, file: f, db: db, files: p.files, position: []slog.Attr{
			slog.String("file", f.Name), slog.Int("number", i+1), slog.Int("of", len(p.pending)),
		}}
		if err := r.do(ctx); err != nil {
			return err
		}
	}
	if len(p.pending) == 0 && len(p.files) > 0 {
		info.Log.Info(ctx, "schema is up to date", slog.Int("migrations", len(p.files)))
	}
	return nil
}

// report logs what is unusual and no error.
func (p *plan) report(ctx context.Context, log *xlog.LogNamedLogger) {
	for _, r := range p.missing {
		name := slog.String("file", r.Name)
		switch {
		case !r.is(Applied) && r.Done > 0:
			log.Warn(ctx, "a migration that is half applied has no file any more", name, slog.Int("done", r.Done))
		case !r.is(Applied):
		case len(p.files) > 0 && r.version() > p.files[len(p.files)-1].version:
			log.Info(ctx, "the database has a migration of a newer program", name)
		default:
			log.Warn(ctx, "an applied migration has no file any more", name)
		}
	}
}
