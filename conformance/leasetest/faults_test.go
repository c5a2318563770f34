package leasetest_test

import (
	"context"
	"strings"
	"time"

	"github.com/plinthgo/plinth/core/common/xlease/driver"
)

// ignoreHolderCase ignores the case of holders.
func ignoreHolderCase(b *broken) {
	lower := func(h driver.Holding) driver.Holding {
		h.Holder = strings.ToLower(h.Holder)
		return h
	}
	b.acquire = func(ctx context.Context, r driver.Request) (driver.Grant, error) {
		r.Holder = strings.ToLower(r.Holder)
		return b.forgetful.Acquire(ctx, r)
	}
	b.renew = func(ctx context.Context, h driver.Holding) (bool, error) {
		return b.forgetful.Renew(ctx, lower(h))
	}
	b.release = func(ctx context.Context, h driver.Holding) (bool, error) {
		return b.forgetful.Release(ctx, lower(h))
	}
}

// acceptAnyHolder permits a release by any holder.
func acceptAnyHolder(b *broken) {
	b.acquire = func(ctx context.Context, r driver.Request) (driver.Grant, error) {
		r.Holder = "one"
		return b.forgetful.Acquire(ctx, r)
	}
	b.release = func(ctx context.Context, h driver.Holding) (bool, error) {
		h.Holder = "one"
		return b.forgetful.Release(ctx, h)
	}
}

// smallTokens grants every lease with the token 1.
func smallTokens(b *broken) {
	b.acquire = func(ctx context.Context, r driver.Request) (driver.Grant, error) {
		g, err := b.forgetful.Acquire(ctx, r)
		g.Token = 1
		return g, err
	}
}

// strictRenewals does not restore records after Forget.
func strictRenewals(b *broken) {
	names := map[string]string{} // by holder, when it acquired
	b.acquire = func(ctx context.Context, r driver.Request) (driver.Grant, error) {
		names[r.Holder] = b.currentName(r.Name)
		return b.forgetful.Acquire(ctx, r)
	}
	b.renew = func(ctx context.Context, h driver.Holding) (bool, error) {
		if names[h.Holder] != b.currentName(h.Name) {
			return false, nil
		}
		return b.forgetful.Renew(ctx, h)
	}
}

// serverAge returns the age of the backend instead of the age of the record.
func serverAge(b *broken) {
	start := time.Now()
	b.acquire = func(ctx context.Context, r driver.Request) (driver.Grant, error) {
		g, err := b.forgetful.Acquire(ctx, r)
		g.Age = time.Since(start)
		return g, err
	}
}
