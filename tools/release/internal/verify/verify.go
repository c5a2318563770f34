// Package verify proves that the modules of a working tree can be used by somebody who
// has nothing but Go and a module proxy: each module from the zip that would be
// published, and programs that require them.
package verify

import (
	"context"
	"errors"
	"io"
	"slices"

	"github.com/plinthgo/plinth/tools/internal/lanes"
	"github.com/plinthgo/plinth/tools/internal/sandbox"
	"github.com/plinthgo/plinth/tools/internal/workspace"
	"github.com/plinthgo/plinth/tools/release/internal/stage"
)

// Options say what to verify.
type Options struct {
	Root   string
	Chosen []workspace.Module // all of the tree, or some
	// its proxy has the trees of all modules, under the versions of go.work
	Tree *sandbox.Sandbox
	Out  io.Writer // is told how each step went
}

// shared is the module cache of all that is verified. It begins empty; go.sum is checked
// whatever it holds.
const shared = "verify"

// A verifier has the module proxy as it will be after the next release.
type verifier struct {
	Options

	stage *stage.Stage
	// of each released module: the version that the tree is published as, by import path
	planned map[string]string
	limits  *limits
	sums    []byte // the hashes of other people's modules, of all go.sum files
}

// Run verifies the chosen modules, the programs of their users and, where all are chosen,
// all modules together with the oldest Go. It goes on after a failure, and returns all of
// them.
func Run(ctx context.Context, o Options) (err error) {
	modules, err := workspace.Modules(o.Root)
	if err != nil {
		return err
	}
	o.Out = &lines{to: o.Out}
	v := &verifier{Options: o, planned: map[string]string{}}
	if v.limits, err = readLimits(o.Root, modules); err != nil {
		return err
	}
	if v.stage, err = stage.Open(ctx, o.Root, modules); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, v.stage.Close()) }()
	if err := v.publish(ctx); err != nil {
		return err
	}
	if v.sums, err = strangers(modules); err != nil {
		return err
	}
	if slices.ContainsFunc(v.Chosen, func(m workspace.Module) bool { return !m.Released() }) {
		if err := copyTree(ctx, v.Root, v.copied()); err != nil {
			return err
		}
	}
	return lanes.Each(together, v.tasks(), func(t task) error { return tell(ctx, v.Out, t) })
}

// tasks lists what there is to verify.
func (v *verifier) tasks() []task {
	var tasks []task
	if len(v.Chosen) == len(v.stage.Modules) { // takes longest, and should not run alone at the end
		tasks = append(tasks, task{"all together", v.together})
	}
	for _, m := range slices.Backward(v.Chosen) {
		prove := v.released
		if !m.Released() {
			prove = v.unreleased
		}
		tasks = append(tasks, task{
			m.Name,
			func(ctx context.Context) error { return prove(ctx, m) },
		})
	}
	for _, c := range v.limits.Consumers {
		if v.chose(c.last()) {
			tasks = append(tasks, task{
				"program " + c.Name,
				func(ctx context.Context) error { return v.consumer(ctx, c) },
			})
		}
	}
	for _, c := range v.limits.Commands {
		if v.chose(c.Module) {
			tasks = append(tasks, task{
				"install " + c.path(),
				func(ctx context.Context) error { return v.install(ctx, c) },
			})
		}
	}
	return tasks
}

func (v *verifier) chose(name string) bool {
	return slices.ContainsFunc(v.Chosen, func(m workspace.Module) bool { return m.Name == name })
}

// module returns the module of that name; the file of limits names no other.
func (v *verifier) module(name string) workspace.Module {
	i := slices.IndexFunc(v.stage.Modules, func(m workspace.Module) bool { return m.Name == name })
	return v.stage.Modules[i]
}
