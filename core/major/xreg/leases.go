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

const leasesName = "leases"

// The values of LEASE_BACKEND that are the name of no phase.
const (
	leaseAuto = "auto"
	leaseNone = "none"
)

// leasesPhase chooses what keeps the application's leases, once database and cache are open.
func leasesPhase(p *startup.Plan) {
	p.AddPhase(startup.Phase{
		Name:    leasesName,
		Key:     xctx.LeasesKey,
		Rank:    startup.RankLeases,
		Enabled: func() bool { return wantsLeases(p, p.Phases) },
		Check:   func(context.Context) error { return checkLeases(p) },
		Start: func(ctx context.Context) (any, error) {
			leases, err := openLeases(ctx, p, p.Phases)
			if err != nil || leases == nil {
				return nil, err
			}
			t := leases.Capabilities() // two services on two hosts share nothing through a file
			initLog.Info(ctx, "locks and leases", slog.String("backend", t.Name), slog.String("between", "all of one "+t.Scope.String()))
			return leases, nil
		},
		Describe: func(value any) string {
			if leases, ok := value.(*xlease.Leases); ok {
				return leases.String()
			}
			return leaseNone
		},
	})
}

// wantsLeases reports whether there is anything that keeps leases, or has to.
func wantsLeases(p *startup.Plan, phases []startup.Phase) bool {
	switch {
	case p.Leases != nil:
		return true
	case leaseBackend() == leaseAuto:
		return len(keepers(phases)) > 0
	default:
		return leaseBackend() != leaseNone
	}
}

func leaseBackend() string { return loadVariables().LeaseBackend }

// keepers returns the phases that can keep leases and are going to start, in their order.
func keepers(phases []startup.Phase) []startup.Phase {
	var list []startup.Phase
	for _, phase := range phases {
		if phase.Leases != nil && (phase.Enabled == nil || phase.Enabled()) {
			list = append(list, phase)
		}
	}
	slices.SortStableFunc(list, func(a, b startup.Phase) int { return int(a.Rank - b.Rank) })
	return list
}

// checkLeases reports a backend that the application is not going to open.
func checkLeases(p *startup.Plan) error {
	backend := leaseBackend()
	if p.Leases != nil || backend == leaseAuto || backend == leaseNone {
		return nil
	}
	if slices.ContainsFunc(keepers(p.Phases), func(k startup.Phase) bool { return k.Name == backend }) {
		return nil
	}
	remedy := map[string]string{
		"database": "needs a database, and the application opens none: give Register xoption.WithDatabase and set " + xenv.DatabaseDriver.String(),
		"cache":    "needs a cache, and the application opens none: give Register xoption.WithCache and set " + xenv.NoSqlDriver.String(),
	}
	accepted := []string{leaseAuto, leaseNone}
	for _, k := range keepers(p.Phases) {
		accepted = append(accepted, k.Name)
	}
	return xenv.Problem(xenv.LeaseBackend, backend, remedy[backend], "here "+strings.Join(accepted, ", "))
}

// openLeases returns the leases of the backend that the environment names. Of several it takes the one that decides between
// most: a database file and a cache server, say, of which only the latter is there for the replicas on other hosts. They are
// nil where there are none.
func openLeases(ctx context.Context, p *startup.Plan, phases []startup.Phase) (*xlease.Leases, error) {
	if p.Leases != nil {
		return p.Leases(ctx)
	}
	backend := leaseBackend()
	var best *xlease.Leases
	for _, k := range keepers(phases) {
		if backend != leaseAuto && backend != k.Name {
			continue
		}
		leases, err := k.Leases(ctx, ctx.Value(k.Key))
		switch {
		case backend == leaseAuto && errors.Is(err, xlease.ErrUnsupported):
			continue
		case err != nil:
			// Nothing takes its place by itself: what another backend, or a file, then decides, it would decide for fewer
			// processes, and two of them would make the same ids.
			other := map[string]string{"database": "cache", "cache": "database"}[k.Name]
			return nil, fmt.Errorf("%w (with %s=%s the %s keeps the leases; accepted instead: %s, or %s with a %s for each replica)",
				err, xenv.LeaseBackend, backend, k.Name, other, leaseNone, xenv.SnowflakeNodeID)
		}
		if best == nil || leases.Capabilities().Scope > best.Capabilities().Scope {
			best = leases
		}
	}
	return best, nil
}
