// Package verify verifies that consumers can use the modules of a working tree with only
// Go and a module proxy. It tests the zip of each module, and programs that require the
// modules.
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

// Options configures Run.
type Options struct {
	Root   string
	Chosen []workspace.Module // all modules of the tree, or some
	// The proxy of Tree contains the trees of all modules with the versions in go.work.
	Tree *sandbox.Sandbox
	Out  io.Writer // receives the result of each step
}

// shared is the name of the module cache for all tasks. The cache is empty at the start.
// The go command verifies go.sum in any case.
const shared = "verify"

// A verifier verifies modules with a module proxy that includes the next release.
type verifier struct {
	Options

	stage *stage.Stage
	// version of the tree of each released module, by import path
	planned map[string]string
	limits  *limits
	sums    []byte // go.sum lines of third-party modules
}

// Run verifies the chosen modules and the programs that use them. If all modules are
// chosen, it also verifies them together and with the oldest Go. It continues after a
// failure and returns all errors.
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
	if v.sums, err = thirdPartySums(modules); err != nil {
		return err
	}
	if slices.ContainsFunc(v.Chosen, func(m workspace.Module) bool { return !m.Released() }) {
		if err := copyTree(ctx, v.Root, v.copyDir()); err != nil {
			return err
		}
	}
	return lanes.Each(parallelTasks, v.tasks(),
		func(t task) error { return runTask(ctx, v.Out, t) })
}

// tasks returns the tasks for the chosen modules.
func (v *verifier) tasks() []task {
	var tasks []task
	if len(v.Chosen) == len(v.stage.Modules) { // the longest task starts first
		tasks = append(tasks, task{"all together", v.together})
	}
	for _, m := range slices.Backward(v.Chosen) {
		verify := v.released
		if !m.Released() {
			verify = v.unreleased
		}
		tasks = append(tasks, task{
			m.Name,
			func(ctx context.Context) error { return verify(ctx, m) },
		})
	}
	for _, c := range v.limits.Consumers {
		if v.isChosen(c.last()) {
			tasks = append(tasks, task{
				"program " + c.Name,
				func(ctx context.Context) error { return v.consumer(ctx, c) },
			})
		}
	}
	for _, c := range v.limits.Commands {
		if v.isChosen(c.Module) {
			tasks = append(tasks, task{
				"install " + c.path(),
				func(ctx context.Context) error { return v.install(ctx, c) },
			})
		}
	}
	return tasks
}

func (v *verifier) isChosen(name string) bool {
	return slices.ContainsFunc(v.Chosen, func(m workspace.Module) bool { return m.Name == name })
}

// module returns the module with that name. readLimits has checked that it exists.
func (v *verifier) module(name string) workspace.Module {
	i := slices.IndexFunc(v.stage.Modules, func(m workspace.Module) bool { return m.Name == name })
	return v.stage.Modules[i]
}
