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
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/major/internal/report"
	"github.com/plinthgo/plinth/core/major/internal/startup"
	"github.com/plinthgo/plinth/core/major/xhook"
)

// initLog logs startup and close.
var initLog = xlog.WithName(xlog.NamedINIT)

// Part describes a started component of the framework.
type Part struct {
	// Name is the name of the phase.
	Name string
	// Detail describes the component in one line, without secrets. It may be empty.
	Detail string
}

// steps returns the steps of p in order, and their problems, joined.
func (r *Reg) steps(p *startup.Plan) (list []*startup.Phase, problems error) {
	errs := []error{r.nodes.Check(p.Nodes)}
	add := func(name string, key xctx.ContextKey, makePhase func(*startup.Plan) *startup.Phase) {
		phase, err := r.phase(p, name, key, makePhase)
		if phase != nil {
			list, err = append(list, phase), phase.Err
		}
		errs = append(errs, err)
	}
	add("database", xctx.DatabaseKey, p.Database)
	add("cache", xctx.CacheManagerKey, p.Cache)
	if _, leased := r.nodes.Get(xctx.LeasesKey); !leased {
		add("leases", xctx.LeasesKey,
			func(p *startup.Plan) *startup.Phase { return leasesPhase(p, list) })
	}
	if !p.Late {
		add("snowflake", xctx.SnowflakeNodeKey, snowflakePhase)
	}
	for _, phase := range list {
		if phase.Setup != nil {
			list = append(list, &startup.Phase{
				Name: phase.Name + " schema", Key: xctx.Exec,
				Start: func(ctx context.Context) (any, error) { return nil, phase.Setup(ctx) },
			})
		}
	}
	for _, n := range p.Nodes {
		list = append(list, &startup.Phase{
			Name: "node " + n.Key.String(), Key: n.Key,
			Start: n.Node,
		})
	}
	return list, errors.Join(errs...)
}

// phase creates a phase with makePhase. It returns nil if p does not configure the phase.
func (r *Reg) phase(
	p *startup.Plan, name string, key xctx.ContextKey, makePhase func(*startup.Plan) *startup.Phase,
) (phase *startup.Phase, err error) {
	if makePhase == nil {
		return nil, nil
	}
	if _, open := r.nodes.Get(key); open {
		return nil, fmt.Errorf("xreg: the %s is already open: pass all of its options to Register",
			name)
	}
	if err := xhook.Guard(func() error { phase = makePhase(p); return nil }); err != nil {
		return nil, fmt.Errorf("%s: check: %w", name, r.logPanics(name, err))
	}
	return phase, nil
}

// startOne runs one step and stores its value.
func (r *Reg) startOne(s *startup.Phase) error {
	r.step.Store(&s.Name)
	ctx := r.Init.Ctx
	if ctx.Err() != nil {
		return fmt.Errorf("%s: not started: %w", s.Name, context.Cause(ctx))
	}
	startTime := time.Now()
	var value any
	err := xhook.Guard(func() (err error) {
		value, err = s.Start(ctx)
		return err
	})
	if err != nil {
		return fmt.Errorf("%s: %w", s.Name, r.logPanics(s.Name, err))
	}
	detail := ""
	if s.Detail != nil {
		detail = s.Detail()
	}
	r.addComponent(s, value, detail)
	initLog.Debug(ctx, "started", slog.String("part", s.Name), slog.String("detail", detail),
		slog.Duration("took", time.Since(startTime)))
	return nil
}

// addComponent stores the value of a step and registers its close function and health
// check.
func (r *Reg) addComponent(s *startup.Phase, value any, detail string) {
	name := s.Key.String()
	if s.Key.IsReserved() { // a component of the framework
		name = s.Name
		parts := append(r.Parts(), Part{Name: name, Detail: detail})
		r.parts.Store(&parts)
	}
	if !s.Key.IsExec() {
		r.nodes.Set(s.Key, value)
	}
	if s.Values != nil {
		for key, v := range s.Values() {
			r.nodes.Set(key, v)
		}
	}
	if v := reflect.ValueOf(value); v.Kind() == reflect.Pointer &&
		(v.IsNil() || slices.Contains(r.closing, value)) {
		return // a nil pointer, or the value of an earlier step, which is closed only once
	}
	if fn := closer(s, value); fn != nil {
		r.closing = append(r.closing, value)
		r.lifecycle.OnClose(s.Name, fn)
	}
	if fn := checker(s, value); fn != nil {
		r.lifecycle.AddHealth(name, fn)
	}
}

// closer returns the function that closes value, or nil.
func closer(s *startup.Phase, value any) xhook.Func {
	if s.Close != nil {
		return s.Close
	}
	switch c := value.(type) {
	case interface{ Close(context.Context) error }:
		return c.Close
	case interface{ Close() error }:
		return func(context.Context) error { return c.Close() }
	case interface{ Close() }:
		return func(context.Context) error { c.Close(); return nil }
	}
	return nil
}

// checker returns the health check of value, or nil.
func checker(s *startup.Phase, value any) xhook.Func {
	if c, ok := value.(xhook.HealthChecker); ok && s.Health == nil {
		return c.CheckHealth
	}
	return s.Health
}

// logPanics logs the stacks of panics and returns err.
func (r *Reg) logPanics(part string, err error) error {
	return report.Panics(r.Init.Ctx, initLog, part, err)
}
