package snippets_test

import (
	"context"
	"testing"
	"time"

	"github.com/plinthgo/plinth/core/common/xlease"
	"github.com/plinthgo/plinth/core/major/plinthtest"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xoption/xoptdatabase"
)

func TestXDBLeases(t *testing.T) {
	t.Parallel()
	ctx := plinthtest.New(t, xoption.WithDatabase(xoptdatabase.FromEnv())).Context()
	ran := false
	report := func(ctx context.Context) error {
		ran = true
		return ctx.Err()
	}
	once := func() error {
		leases, err := xdb.Leases(xdb.MustGetDB(ctx)) // leases are valid until the database is closed
		if err != nil {
			return err
		}
		return leases.Do(ctx, "nightly-report",
			30*time.Second, func(ctx context.Context, _ *xlease.Lease) error {
				return report(ctx) // ctx is canceled when the lease is lost
			})
	}
	if err := once(); err != nil || !ran {
		t.Errorf("ran = %t, err = %v, want a report", ran, err)
	}
}
