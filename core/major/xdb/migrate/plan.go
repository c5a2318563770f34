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

// plan compares the files with the table.
type plan struct {
	files    []Migration    // with their states
	pending  []sqlfile.File // not applied
	missing  []record       // without a file, in order
	newest   record         // the applied migration with the highest version
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
		if r.State == Applied && version(r.Name) >= version(p.newest.Name) {
			p.newest = r
		}
	}
	for _, f := range files {
		p.add(f, known[f.Migration])
	}
	return p
}

func (p *plan) add(f sqlfile.File, r record) {
	state, err := compare(f, r)
	if err == nil && state != Applied && r.Done == 0 {
		state, err = p.checkOrder(f, state)
	}
	if err != nil {
		p.problems = append(p.problems, fmt.Errorf("xdb: migration %s: %w", f.Name, err))
	}
	if state != Applied {
		p.pending = append(p.pending, f)
	}
	m := r.describe(state)
	m.Name, m.File, m.SHA256, m.Statements = f.Migration, f.Name, f.SHA256, len(f.Statements)
	p.files = append(p.files, m)
}

// checkOrder checks the version of a file that has no applied statement.
func (p *plan) checkOrder(f sqlfile.File, state State) (State, error) {
	for _, r := range p.missing {
		if version(r.Name) == f.Version && (r.State == Applied || r.Done > 0) {
			return Changed, fmt.Errorf("the database has applied its version as %s: "+
				"restore that name, or choose another version", r.Name)
		}
	}
	if f.Version < version(p.newest.Name) {
		return Late, fmt.Errorf("it comes before %s, which is applied: give it a higher version",
			p.newest.Name)
	}
	return state, nil
}

// compare returns the state of a file from its row, without regard to other files.
func compare(f sqlfile.File, r record) (State, error) {
	switch {
	case !r.stored:
		return Pending, nil
	case r.State == Applied && r.SHA256 != f.SHA256:
		return Changed, fmt.Errorf(
			"it has changed since it was applied (SHA-256 %.12s then, %.12s now): "+
				"restore it, and put the change into a new migration", r.SHA256, f.SHA256)
	case r.State != Applied && r.Done > 0 &&
		(r.Done > len(f.Statements) || f.Statements[r.Done-1].Digest != r.DoneSHA256):
		return Changed, fmt.Errorf("its first %d statements are applied and have changed since: "+
			"restore them, and change only the statements from %d on", r.Done, r.Done+1)
	default:
		return r.State, nil
	}
}

// list returns the migrations with and without a file, in the order of their versions.
func (p *plan) list() []Migration {
	all := append([]Migration{}, p.files...) // not nil
	for _, r := range p.missing {
		all = append(all, r.describe(Missing))
	}
	slices.SortStableFunc(all,
		func(a, b Migration) int { return cmp.Compare(version(a.Name), version(b.Name)) })
	return all
}

// report logs unusual states that are not errors.
func (p *plan) report(ctx context.Context, log *xlog.LogNamedLogger) {
	for _, r := range p.missing {
		name := slog.String("file", r.Name)
		switch {
		case r.State != Applied && r.Done > 0:
			log.Warn(ctx, "a partially applied migration has no file",
				name, slog.Int("done", r.Done))
		case r.State != Applied:
		case len(p.files) > 0 && version(r.Name) > version(p.files[len(p.files)-1].Name):
			log.Info(ctx, "the database has a migration of a newer program", name)
		default:
			log.Warn(ctx, "an applied migration has no file", name)
		}
	}
}

func byVersion(a, b record) int { return cmp.Compare(version(a.Name), version(b.Name)) }
