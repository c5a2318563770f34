package xreg_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/plinthgo/plinth/core/common/xlease"
	"github.com/plinthgo/plinth/core/common/xlease/driver"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/major/internal/startup"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xreg"
)

var errDown = errors.New("the server does not answer")

// keeper is a database or a cache that keeps leases.
type keeper struct {
	driver.Backend

	name  string
	scope driver.Scope
	log   *[]string
	down  atomic.Bool
	err   error
	ends  func() // called when it is closed
	hangs func() // called in the place of an answer, which does not come until the context ends

	leases *xlease.Leases
}

func newKeeper(name string, scope driver.Scope) *keeper {
	k := &keeper{Backend: xlease.InProcess(nil), name: name, scope: scope, log: new([]string)}
	k.leases = xlease.New(k)
	return k
}

func (k *keeper) Capabilities() driver.Capabilities {
	return driver.Capabilities{Scope: k.scope, Durable: true, Name: "the " + k.name}
}

func (k *keeper) Acquire(ctx context.Context, r driver.Request) (driver.Grant, error) {
	if k.down.Load() {
		return driver.Grant{}, errDown
	}
	if k.hangs != nil {
		k.hangs()
		select {
		case <-ctx.Done():
			return driver.Grant{}, ctx.Err()
		case <-time.After(5 * time.Second):
			return driver.Grant{}, errDown
		}
	}
	return k.Backend.Acquire(ctx, r)
}

func (k *keeper) Renew(ctx context.Context, h driver.Holding) (bool, error) {
	if k.down.Load() {
		return false, errDown
	}
	return k.Backend.Renew(ctx, h)
}

func (k *keeper) Release(ctx context.Context, h driver.Holding) (bool, error) {
	*k.log = append(*k.log, "release in "+k.name)
	return k.Backend.Release(ctx, h)
}

// lend returns its leases.
func (k *keeper) lend(context.Context) (*xlease.Leases, error) { return k.leases, k.err }

// phase opens it under its key.
func (k *keeper) phase() xoption.Option {
	p := startup.Phase{
		Name: k.name, Key: xctx.DatabaseKey,
		Start: func(context.Context) (any, error) { return k, nil },
		Close: func(context.Context) error {
			*k.log = append(*k.log, "close "+k.name)
			if k.ends != nil {
				k.ends()
			}
			return k.leases.Close()
		},
		Leases: k.lend,
	}
	if k.name == "cache" {
		p.Key = xctx.CacheManagerKey
	}
	return withPhase(p)
}

// unnumbered leaves the number of the id node to a lease.
func unnumbered(t *testing.T) (xoption.Option, *buffer) {
	t.Helper()
	t.Setenv("SNOWFLAKE_LEASE_DIR", t.TempDir())
	base, out := alone(t)
	return xoption.WithOptions(base, func(p *startup.Plan) { p.Snowflake = nil }), out
}

// startUnnumbered starts an application that is closed with the test, and leases its
// number.
func startUnnumbered(t *testing.T, opts ...xoption.Option) (*xreg.Reg, *buffer) {
	t.Helper()
	base, out := unnumbered(t)
	reg, err := xreg.New(t.Context(), nil, append([]xoption.Option{base}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := reg.Close(context.Background()); err != nil {
			t.Errorf("Close = %v", err)
		}
	})
	return reg, out
}

// source is where the log says that the number of the id node is from.
func source(out *buffer) string {
	found := ""
	for line := range strings.Lines(out.String()) {
		if _, rest, ok := strings.Cut(line, `"source":"`); ok {
			found, _, _ = strings.Cut(rest, `"`)
		}
	}
	return found
}
