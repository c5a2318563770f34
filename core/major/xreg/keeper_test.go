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

// keeper is a fake database or cache that supports leases.
type keeper struct {
	driver.Backend

	name      string
	scope     driver.Scope
	log       *[]string
	down      atomic.Bool
	err       error
	onClose   func() // called on Close
	onAcquire func() // if set, called before a request blocks until its context is canceled

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
	if k.onAcquire != nil {
		k.onAcquire()
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

func (k *keeper) openLeases(context.Context) (*xlease.Leases, error) { return k.leases, k.err }

// phase returns an option that opens k under its key.
func (k *keeper) phase() xoption.Option {
	p := startup.Phase{
		Name: k.name, Key: xctx.DatabaseKey,
		Start: func(context.Context) (any, error) { return k, nil },
		Close: func(context.Context) error {
			*k.log = append(*k.log, "close "+k.name)
			if k.onClose != nil {
				k.onClose()
			}
			return k.leases.Close()
		},
		Leases: k.openLeases,
	}
	if k.name == "cache" {
		p.Key = xctx.CacheManagerKey
	}
	return withPhase(p)
}

// isolatedLeased returns isolated options without a node ID, so that the ID node leases
// one.
func isolatedLeased(t *testing.T) (xoption.Option, *buffer) {
	t.Helper()
	t.Setenv("SNOWFLAKE_LEASE_DIR", t.TempDir())
	base, out := isolated(t)
	return xoption.WithOptions(base, func(p *startup.Plan) { p.Snowflake = nil }), out
}

// startLeased starts an application that leases its node ID and is closed at the end of
// the test.
func startLeased(t *testing.T, opts ...xoption.Option) (*xreg.Reg, *buffer) {
	t.Helper()
	base, out := isolatedLeased(t)
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

// source returns the logged source of the node ID.
func source(out *buffer) string {
	found := ""
	for line := range strings.Lines(out.String()) {
		if _, rest, ok := strings.Cut(line, `"source":"`); ok {
			found, _, _ = strings.Cut(rest, `"`)
		}
	}
	return found
}
