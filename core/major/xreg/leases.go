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

// The values of LEASE_BACKEND that are the name of no phase.
const (
	leaseAuto = "auto"
	leaseNone = "none"
)

// leasesPhase chooses which of these phases keeps the application's leases, when they
// have started. It returns nil if nothing keeps leases, or has to.
func leasesPhase(p *startup.Plan, phases []*startup.Phase) *startup.Phase {
	phase := &startup.Phase{Name: "leases", Key: xctx.LeasesKey}
	open := p.Leases
	if open == nil {
		// with the default for what Validate reports
		env, _ := xenv.Load[leaseVariables](xenv.Environment())
		keepers, err := leaseKeepers(env.LeaseBackend, phases)
		if len(keepers) == 0 && err == nil {
			return nil
		}
		phase.Err = err
		open = func(ctx context.Context) (*xlease.Leases, error) {
			return openLeases(ctx, env.LeaseBackend, keepers)
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
		t := leases.Capabilities() // two services on two hosts share nothing through a file
		initLog.Info(ctx, "locks and leases",
			slog.String("backend", t.Name), slog.String("between", "all of one "+t.Scope.String()))
		return leases, nil
	}
	return phase
}

// leaseKeepers returns the phases that LEASE_BACKEND names. The error reports a backend
// that is not among them, or that keeps no leases. A phase with an error of its own could
// keep some.
func leaseKeepers(backend string, phases []*startup.Phase) (keepers []*startup.Phase, err error) {
	remedy := map[string]string{
		"database": "needs a database, and the application opens none: give Register xoption.WithDatabase and set " + xenv.DatabaseDriver.String(),
		"cache":    "needs a cache, and the application opens none: give Register xoption.WithCache and set " + xenv.NoSqlDriver.String(),
	}[backend]
	accepted := []string{leaseAuto, leaseNone}
	for _, phase := range phases {
		switch {
		case phase.Leases != nil || phase.Err != nil:
			accepted = append(accepted, phase.Name)
			if backend == leaseAuto || backend == phase.Name {
				keepers = append(keepers, phase)
			}
		case phase.Name == backend:
			remedy = "cannot be: the driver of the " + backend + " keeps no leases"
		}
	}
	if !slices.Contains(accepted, backend) {
		err = xenv.Problem(xenv.LeaseBackend, backend, remedy, "here "+strings.Join(accepted, ", "))
	}
	return keepers, err
}

// openLeases returns the leases of the keepers that LEASE_BACKEND names. Of several it
// takes the one that decides between most: a database file and a cache server, say, of
// which only the latter is there for the replicas on other hosts. They are nil where
// there are none.
func openLeases(
	ctx context.Context, backend string, keepers []*startup.Phase,
) (*xlease.Leases, error) {
	var best *xlease.Leases
	for _, k := range keepers {
		leases, err := k.Leases(ctx)
		switch {
		case backend == leaseAuto && errors.Is(err, xlease.ErrUnsupported):
			continue
		case err != nil:
			// Nothing takes its place by itself: what another backend, or a file, then
			// decides, it would decide for fewer processes, and two of them would make
			// the same ids.
			other := map[string]string{"database": "cache", "cache": "database"}[k.Name]
			return nil, fmt.Errorf(
				"%w (with %s=%s the %s keeps the leases; accepted instead: %s, or %s with a %s for each replica)",
				err, xenv.LeaseBackend, backend, k.Name, other, leaseNone, xenv.SnowflakeNodeID)
		}
		if best == nil || leases.Capabilities().Scope > best.Capabilities().Scope {
			best = leases
		}
	}
	return best, nil
}
