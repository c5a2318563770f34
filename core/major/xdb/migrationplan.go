package xdb

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"strings"

	"github.com/plinthgo/plinth/core/major/xdb/internal/sqlfile"
)

// migration is a migration as one database runs it.
type migration struct {
	name    string
	version uint64
	file    sqlfile.File
	script  sqlfile.Script
	digests []string // of the statements up to each
}

// readMigrations reads files for a database. The error joins one for each problem. Where t is nil, because the database
// could not be found out, only names are checked.
func (r *Registry) readMigrations(t *target, sets []fs.FS) ([]migration, error) {
	if len(sets) == 0 {
		return nil, nil
	}
	var dialects []string
	if t != nil {
		dialects = []string{t.name, t.dialector().Name()}
	}
	known := slices.Concat(family.Own, r.Drivers(), dialects)
	slices.Sort(known)
	found, problems := sqlfile.Read(slices.Compact(known), sets...)
	var set []migration
	for _, m := range found {
		if len(dialects) == 0 {
			break
		}
		one, errs := t.script(m, dialects)
		set, problems = append(set, one), append(problems, errs...)
	}
	for i, p := range problems {
		problems[i] = fmt.Errorf("xdb: %w", p)
	}
	return set, errors.Join(problems...)
}

// script divides the file for the database, and looks at the files for others.
func (t *target) script(m sqlfile.Migration, dialects []string) (one migration, problems []error) {
	mine, ok := m.For(dialects...)
	if !ok {
		stem := strings.TrimSuffix(m.Name, ".sql")
		problems = append(problems, fmt.Errorf("migration %s has no file for %s: add %s or %s.%s.sql", m.Name, t.name, m.Name, stem, t.name))
	}
	for _, f := range m.Files {
		dialect := f.Dialect
		if ok && f.Name == mine.Name {
			dialect = dialects[len(dialects)-1]
		}
		if dialect == "" {
			continue // the file of databases that nobody has named
		}
		script, err := f.Split(dialect)
		if err != nil {
			problems = append(problems, err)
		} else if ok && f.Name == mine.Name {
			one = migration{name: m.Name, version: m.Version, file: f, script: script, digests: sqlfile.Digests(script.Statements)}
		}
	}
	return one, problems
}

// step is a migration and where it stands.
type step struct {
	migration

	record record
	state  MigrationState
}

// plan is what files and table say together.
type plan struct {
	steps    []step
	pending  []migration
	missing  []record // of the table alone, in order
	newest   record   // the last one that is applied
	problems []error
}

func newPlan(set []migration, known map[string]record) *plan {
	p := &plan{}
	named := map[string]bool{}
	for _, m := range set {
		named[m.name] = true
	}
	for name, r := range known {
		if r.is(MigrationApplied) && r.version() >= p.newest.version() {
			p.newest = r
		}
		if !named[name] {
			p.missing = append(p.missing, r)
		}
	}
	slices.SortFunc(p.missing, func(a, b record) int { return cmp.Compare(a.version(), b.version()) })
	for _, m := range set {
		p.add(m, known[m.name])
	}
	return p
}

// add finds out where a migration stands.
func (p *plan) add(m migration, r record) {
	state, err := m.compare(r)
	if err == nil && state != MigrationApplied && r.Done == 0 {
		state, err = p.place(m, state)
	}
	if err != nil {
		p.problems = append(p.problems, fmt.Errorf("xdb: migration %s: %w", m.file.Name, err))
	} else if state != MigrationApplied {
		p.pending = append(p.pending, m)
	}
	p.steps = append(p.steps, step{migration: m, record: r, state: state})
}

// place says what keeps a migration of which nothing is applied from its place.
func (p *plan) place(m migration, state MigrationState) (MigrationState, error) {
	for _, r := range p.missing {
		if r.version() == m.version && r.kept() {
			return MigrationChanged, fmt.Errorf("the database knows its version as %s: "+
				"give it back that name, or give a new migration a version of its own", r.Name)
		}
	}
	if m.version < p.newest.version() {
		return MigrationLate, fmt.Errorf("it comes before %s, which is applied: give it a higher version", p.newest.Name)
	}
	return state, nil
}

// compare returns the state of a migration by its row alone.
func (m migration) compare(r record) (MigrationState, error) {
	switch {
	case !r.stored:
		return MigrationPending, nil
	case r.is(MigrationApplied) && r.SHA256 != m.file.SHA256:
		return MigrationChanged, fmt.Errorf("it has changed since it was applied (SHA-256 %.12s then, %.12s now): "+
			"restore it, and put the change into a new migration", r.SHA256, m.file.SHA256)
	case !r.is(MigrationApplied) && r.Done > 0 && (r.Done > len(m.digests) || m.digests[r.Done-1] != r.DoneSHA256):
		return MigrationChanged, fmt.Errorf("its first %d statements are applied and have changed since: "+
			"restore them, and change it from statement %d on only", r.Done, r.Done+1)
	default:
		return MigrationState(r.State), nil
	}
}

// report writes what is odd and no error.
func (p *plan) report(ctx context.Context, log logLines) {
	for _, r := range p.missing {
		name := slog.String("file", r.Name)
		switch {
		case !r.is(MigrationApplied) && r.Done > 0:
			log.Warn(ctx, "a migration that is half applied has no file any more", name, slog.Int("done", r.Done))
		case !r.is(MigrationApplied):
		case len(p.steps) > 0 && r.version() > p.steps[len(p.steps)-1].version:
			log.Info(ctx, "the database has a migration of a newer program", name)
		default:
			log.Warn(ctx, "an applied migration has no file any more", name)
		}
	}
}
