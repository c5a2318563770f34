package leasetest_test

import (
	"context"
	"strings"
	"time"

	"github.com/plinthgo/plinth/core/common/xlease/driver"
)

// noCase ignores the case of holders.
func noCase(b *broken) {
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

// anybody permits a release by any holder.
func anybody(b *broken) {
	b.acquire = func(ctx context.Context, r driver.Request) (driver.Grant, error) {
		r.Holder = "one"
		return b.forgetful.Acquire(ctx, r)
	}
	b.release = func(ctx context.Context, h driver.Holding) (bool, error) {
		h.Holder = "one"
		return b.forgetful.Release(ctx, h)
	}
}

// smallTokens counts the holders of each name, and restarts after Forget.
func smallTokens(b *broken) {
	b.acquire = func(ctx context.Context, r driver.Request) (driver.Grant, error) {
		g, err := b.forgetful.Acquire(ctx, r)
		g.Token = 1
		return g, err
	}
}

// strictRenewals renews existing records only.
func strictRenewals(b *broken) {
	era := map[string]string{}
	b.acquire = func(ctx context.Context, r driver.Request) (driver.Grant, error) {
		era[r.Holder] = b.now(r.Name)
		return b.forgetful.Acquire(ctx, r)
	}
	b.renew = func(ctx context.Context, h driver.Holding) (bool, error) {
		if era[h.Holder] != b.now(h.Name) {
			return false, nil
		}
		return b.forgetful.Renew(ctx, h)
	}
}

// serverAge returns the age of the server.
func serverAge(b *broken) {
	start := time.Now()
	b.acquire = func(ctx context.Context, r driver.Request) (driver.Grant, error) {
		g, err := b.forgetful.Acquire(ctx, r)
		g.Age = time.Since(start)
		return g, err
	}
}
