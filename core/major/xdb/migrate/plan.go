package migrate

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/major/xdb/migrate/internal/sqlfile"
)

// step is a file and its state.
type step struct {
	sqlfile.File

	record record
	state  State
}

// plan compares the files with the table.
type plan struct {
	steps    []step
	missing  []record // without a file, in order
	newest   record   // the last one that is applied
	problems []error
}

func newPlan(files []sqlfile.File, known map[string]record) *plan {
	p := &plan{}
	missing := maps.Clone(known)
	for _, f := range files {
		delete(missing, f.Migration)
	}
	p.missing = slices.SortedFunc(maps.Values(missing), byVersion)
	for _, r := range known {
		if r.State == Applied && r.version() >= p.newest.version() {
			p.newest = r
		}
	}
	for _, f := range files {
		p.add(f, known[f.Migration])
	}
	return p
}

// add finds the state of a file.
func (p *plan) add(f sqlfile.File, r record) {
	state, err := compare(f, r)
	if err == nil && state != Applied && r.Done == 0 {
		state, err = p.place(f, state)
	}
	if err != nil {
		p.problems = append(p.problems, fmt.Errorf("xdb: migration %s: %w", f.Name, err))
	}
	p.steps = append(p.steps, step{File: f, record: r, state: state})
}

// place checks that a file of which nothing is applied may still be applied.
func (p *plan) place(f sqlfile.File, state State) (State, error) {
	for _, r := range p.missing {
		if r.version() == f.Version && (r.State == Applied || r.Done > 0) {
			return Changed, fmt.Errorf("the database knows its version as %s: "+
				"give it back that name, or give a new migration a version of its own", r.Name)
		}
	}
	if f.Version < p.newest.version() {
		return Late, fmt.Errorf("it comes before %s, which is applied: give it a higher version", p.newest.Name)
	}
	return state, nil
}

// compare returns the state of a file by its row alone.
func compare(f sqlfile.File, r record) (State, error) {
	switch {
	case !r.stored:
		return Pending, nil
	case r.State == Applied && r.SHA256 != f.SHA256:
		return Changed, fmt.Errorf("it has changed since it was applied (SHA-256 %.12s then, %.12s now): "+
			"restore it, and put the change into a new migration", r.SHA256, f.SHA256)
	case r.State != Applied && r.Done > 0 && (r.Done > len(f.Statements) || f.Statements[r.Done-1].Digest != r.DoneSHA256):
		return Changed, fmt.Errorf("its first %d statements are applied and have changed since: "+
			"restore them, and change it from statement %d on only", r.Done, r.Done+1)
	default:
		return r.State, nil
	}
}

// pending returns the files that are not applied.
func (p *plan) pending() (files []sqlfile.File) {
	for _, s := range p.steps {
		if s.state != Applied {
			files = append(files, s.File)
		}
	}
	return files
}

// list returns the migrations of the files and those without a file, in the order of their versions.
func (p *plan) list() []Migration {
	all := make([]Migration, 0, len(p.steps)+len(p.missing))
	for _, s := range p.steps {
		m := s.record.describe(s.state)
		m.Name, m.File, m.SHA256, m.Statements = s.Migration, s.Name, s.SHA256, len(s.Statements)
		all = append(all, m)
	}
	for _, r := range p.missing {
		all = append(all, r.describe(Missing))
	}
	slices.SortStableFunc(all, func(a, b Migration) int { return byVersion(record{Name: a.Name}, record{Name: b.Name}) })
	return all
}

// report logs what is unusual and no error.
func (p *plan) report(ctx context.Context, log *xlog.LogNamedLogger) {
	for _, r := range p.missing {
		name := slog.String("file", r.Name)
		switch {
		case r.State != Applied && r.Done > 0:
			log.Warn(ctx, "a migration that is half applied has no file any more", name, slog.Int("done", r.Done))
		case r.State != Applied:
		case len(p.steps) > 0 && r.version() > p.steps[len(p.steps)-1].Version:
			log.Info(ctx, "the database has a migration of a newer program", name)
		default:
			log.Warn(ctx, "an applied migration has no file any more", name)
		}
	}
}

func byVersion(a, b record) int { return cmp.Compare(a.version(), b.version()) }
