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

var errDown = errors.New("the server does not respond")

// leaseBackend is a fake database or cache that supports leases.
type leaseBackend struct {
	driver.Backend

	name      string
	scope     driver.Scope
	log       *[]string
	down      atomic.Bool
	err       error
	onClose   func() // called on Close
	onAcquire func() // if set, Acquire calls it and blocks until the context is canceled

	leases *xlease.Leases
}

func newLeaseBackend(name string, scope driver.Scope) *leaseBackend {
	b := &leaseBackend{
		Backend: xlease.InProcess(nil), name: name, scope: scope, log: new([]string),
	}
	b.leases = xlease.New(b)
	return b
}

func (b *leaseBackend) Capabilities() driver.Capabilities {
	return driver.Capabilities{Scope: b.scope, Durable: true, Name: "the " + b.name}
}

func (b *leaseBackend) Acquire(ctx context.Context, r driver.Request) (driver.Grant, error) {
	if b.down.Load() {
		return driver.Grant{}, errDown
	}
	if b.onAcquire != nil {
		b.onAcquire()
		select {
		case <-ctx.Done():
			return driver.Grant{}, ctx.Err()
		case <-time.After(5 * time.Second):
			return driver.Grant{}, errDown
		}
	}
	return b.Backend.Acquire(ctx, r)
}

func (b *leaseBackend) Renew(ctx context.Context, h driver.Holding) (bool, error) {
	if b.down.Load() {
		return false, errDown
	}
	return b.Backend.Renew(ctx, h)
}

func (b *leaseBackend) Release(ctx context.Context, h driver.Holding) (bool, error) {
	*b.log = append(*b.log, "release in "+b.name)
	return b.Backend.Release(ctx, h)
}

func (b *leaseBackend) openLeases(context.Context) (*xlease.Leases, error) {
	return b.leases, b.err
}

// phase returns an option whose phase opens b.
func (b *leaseBackend) phase() xoption.Option {
	p := startup.Phase{
		Name: b.name, Key: xctx.DatabaseKey,
		Start: func(context.Context) (any, error) { return b, nil },
		Close: func(context.Context) error {
			*b.log = append(*b.log, "close "+b.name)
			if b.onClose != nil {
				b.onClose()
			}
			return b.leases.Close()
		},
		Leases: b.openLeases,
	}
	if b.name == "cache" {
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
