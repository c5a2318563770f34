package xreg

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/plinthgo/plinth/core/common/xlease"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/internal/startup"
)

// Values of LEASE_BACKEND that do not name a phase.
const (
	leaseAuto = "auto"
	leaseNone = "none"
)

// leasesPhase returns the phase that opens the application's leases, which one of phases
// provides. It returns nil if no phase supports leases and no leases are required.
func leasesPhase(p *startup.Plan, phases []*startup.Phase) *startup.Phase {
	phase := &startup.Phase{Name: "leases", Key: xctx.LeasesKey}
	open := p.Leases
	if open == nil {
		// Load replaces invalid values with their defaults; Validate reports them
		env, _ := xenv.Load[leaseVariables](xenv.Environment())
		candidates, err := leaseCandidates(env.LeaseBackend, phases)
		if len(candidates) == 0 && err == nil {
			return nil
		}
		phase.Err = err
		open = func(ctx context.Context) (*xlease.Leases, error) {
			return openLeases(ctx, env.LeaseBackend, candidates)
		}
	}
	detail := leaseNone
	phase.Detail = func() string { return detail }
	phase.Start = func(ctx context.Context) (any, error) {
		leases, err := open(ctx)
		if err != nil || leases == nil {
			return nil, err
		}
		detail = leases.String()
		c := leases.Capabilities() // the scope matters: hosts do not share a file
		initLog.Info(ctx, "locks and leases",
			slog.String("backend", c.Name), slog.String("scope", c.Scope.String()))
		return leases, nil
	}
	return phase
}

// leaseCandidates returns the phases that match LEASE_BACKEND. It returns an error if the
// backend is not among them or does not support leases. A phase with a configuration
// error counts as a match, because its support is unknown.
func leaseCandidates(
	backend string, phases []*startup.Phase,
) (candidates []*startup.Phase, err error) {
	problem := map[string]string{
		"database": "requires a database: pass xoption.WithDatabase to Register and set " +
			xenv.DatabaseDriver.String(),
		"cache": "requires a cache: pass xoption.WithCache to Register and set " +
			xenv.NoSqlDriver.String(),
	}[backend]
	accepted := []string{leaseAuto, leaseNone}
	for _, phase := range phases {
		switch {
		case phase.Leases != nil || phase.Err != nil:
			accepted = append(accepted, phase.Name)
			if backend == leaseAuto || backend == phase.Name {
				candidates = append(candidates, phase)
			}
		case phase.Name == backend:
			problem = "is not supported: the driver of the " + backend + " does not support leases"
		}
	}
	if !slices.Contains(accepted, backend) {
		err = xenv.Problem(xenv.LeaseBackend, backend, problem, strings.Join(accepted, ", "))
	}
	return candidates, err
}

// openLeases returns the leases with the widest scope of all candidates that match
// LEASE_BACKEND. For example, it prefers the leases of a cache server to those of a
// database file. It returns nil if no candidate supports leases.
func openLeases(
	ctx context.Context, backend string, candidates []*startup.Phase,
) (*xlease.Leases, error) {
	var best *xlease.Leases
	for _, phase := range candidates {
		leases, err := phase.Leases(ctx)
		switch {
		case backend == leaseAuto && errors.Is(err, xlease.ErrUnsupported):
			continue
		case err != nil:
			// Do not fall back to another backend: its leases might cover fewer
			// processes, and two processes would then generate the same IDs.
			other := map[string]string{"database": "cache", "cache": "database"}[phase.Name]
			return nil, fmt.Errorf("%w (with %s=%s the %s stores the leases; "+
				"accepted instead: %s, or %s with a %s for each replica)",
				err, xenv.LeaseBackend, backend, phase.Name, other, leaseNone,
				xenv.SnowflakeNodeID)
		}
		if best == nil || leases.Capabilities().Scope > best.Capabilities().Scope {
			best = leases
		}
	}
	return best, nil
}
