package xreg

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"time"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/internal/guard"
	"github.com/plinthgo/plinth/core/major/internal/startup"
	"github.com/plinthgo/plinth/core/major/xhook"
)

// initLog writes the lines of the start and of the close.
var initLog = xlog.WithName(xlog.NamedINIT)

// step is a part of the start: a phase of the framework or a node of the application.
type step struct {
	startup.Phase
	node bool
}

// Part is a part of the framework that has started, for people.
type Part struct {
	// Name is the phase's name.
	Name string
	// Detail is one line about it, without a secret. It may be empty.
	Detail string
}

// opened is a value that is closed at the stop.
type opened struct {
	name  string
	value any
	close xhook.Func
}

// steps returns what the plan starts, in order: phases by rank, then nodes.
func steps(p *startup.Plan) []step {
	var list []step
	phases := slices.Clone(p.Phases)
	slices.SortStableFunc(phases, func(a, b startup.Phase) int { return int(a.Rank - b.Rank) })
	for _, phase := range phases {
		if phase.Enabled == nil || phase.Enabled() {
			list = append(list, step{Phase: phase})
		}
	}
	for _, n := range p.Nodes {
		list = append(list, step{Phase: startup.Phase{Name: "node " + n.Key.String(), Key: n.Key, Start: n.Node}, node: true})
	}
	return list
}

// start runs steps in order until the first error.
func (r *Reg) start(list []step) error {
	for _, s := range list {
		if err := r.startOne(s); err != nil {
			return err
		}
	}
	return nil
}

// startOne runs one step and keeps its value.
func (r *Reg) startOne(s step) error {
	r.enter(s.Name)
	ctx := r.Init.Ctx
	if ctx.Err() != nil {
		return fmt.Errorf("%s: not started: %w", s.Name, context.Cause(ctx))
	}
	began := time.Now()
	var value any
	err := xhook.Guard(func() (err error) {
		value, err = s.Start(ctx)
		return err
	})
	if err != nil {
		logPanic(ctx, s.Name, err)
		return fmt.Errorf("%s: %w", s.Name, err)
	}
	r.keep(s, value)
	detail := ""
	if s.Describe != nil {
		detail = s.Describe(value)
	}
	if !s.node && !s.Key.IsExec() {
		r.parts = append(r.parts, Part{Name: s.Name, Detail: detail})
	}
	initLog.Debug(ctx, "started", slog.String("part", s.Name), slog.String("detail", detail), slog.Duration("took", time.Since(began)))
	return nil
}

// keep stores the value of a step and notes how it is closed and checked.
func (r *Reg) keep(s step, value any) {
	if !s.Key.IsExec() && !s.Key.IsNil() {
		r.nodes.Set(s.Key, value)
	}
	if s.Values != nil {
		for key, v := range s.Values(value) {
			r.nodes.Set(key, v)
		}
	}
	if r.known(value) {
		return
	}
	if fn := closer(s, value); fn != nil {
		r.opened = append(r.opened, opened{name: s.Name, value: value, close: fn})
	}
	if fn := checker(s, value); fn != nil {
		name := s.Name
		if s.node {
			name = s.Key.String()
		}
		r.life.AddHealth(name, fn)
	}
}

// known reports whether an earlier step gave the same pointer, so that nothing is closed twice.
func (r *Reg) known(value any) bool {
	if reflect.ValueOf(value).Kind() != reflect.Pointer {
		return false
	}
	return slices.ContainsFunc(r.opened, func(o opened) bool {
		return o.value == value // a pointer is comparable with any value
	})
}

// closer returns the function that closes a value, or nil.
func closer(s step, value any) xhook.Func {
	if s.Close != nil {
		return func(ctx context.Context) error { return s.Close(ctx, value) }
	}
	if v := reflect.ValueOf(value); v.Kind() == reflect.Pointer && v.IsNil() {
		return nil
	}
	switch c := value.(type) {
	case interface {
		Close(ctx context.Context) error
	}:
		return c.Close
	case interface{ Close() error }:
		return func(context.Context) error { return c.Close() }
	case interface{ Close() }:
		return func(context.Context) error { c.Close(); return nil }
	}
	return nil
}

// checker returns the health check of a value, or nil.
func checker(s step, value any) xhook.Func {
	if s.Health != nil {
		return func(ctx context.Context) error { return s.Health(ctx, value) }
	}
	if c, ok := value.(xhook.HealthChecker); ok {
		return c.CheckHealth
	}
	return nil
}

// closeOpened closes what was opened, in reverse.
func (r *Reg) closeOpened(ctx context.Context) error {
	var errs []error
	for _, o := range slices.Backward(r.opened) {
		err := guard.Call(ctx, o.close)
		logPanic(r.Init.Ctx, "close of "+o.name, err) // the log of the application
		if err != nil {
			errs = append(errs, fmt.Errorf("close of %s: %w", o.name, err))
		}
	}
	r.opened = nil
	return errors.Join(errs...)
}

// logPanic writes the stack of a panic, which its error does not hold, and reports whether err is one.
func logPanic(ctx context.Context, where string, err error) (panicked bool) {
	var p *xhook.PanicError
	if panicked = errors.As(err, &p); panicked {
		initLog.Error(ctx, "panic", slog.String("part", where), slog.Any("panic", p.Value), slog.String("stack", string(p.Stack)))
	}
	return panicked
}
