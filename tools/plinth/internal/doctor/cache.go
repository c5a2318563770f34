package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xcache"
	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// checkCache connects once, with the options that the service uses.
func (p *target) checkCache(ctx context.Context) []Finding {
	name := driverOf(xenv.NoSqlDriver)
	if name == "" {
		return []Finding{p.withoutDriver(xenv.NoSqlDriver, xenv.NoSqlURL, xenv.NoSqlHost)}
	}
	key := p.invalid(xenv.NoSqlPort, "NOSQL_MODE", xenv.NoSqlTLS, xenv.NoSqlDatabase)
	if key != "" {
		return []Finding{skipped("%s is invalid", key)}
	}
	if !slices.Contains(xcache.Drivers(), name) {
		return []Finding{skipped("plinth has no driver %q", name)}
	}
	cache, err := xcache.Resolve(xcache.NewOptions(xcache.FromEnv(), xcache.WithConnectTimeout(0)))
	if err != nil {
		return problems(err, "run plinth env --group cache for the variables")
	}
	return p.openCache(ctx, cache)
}

func (p *target) openCache(ctx context.Context, cache *xcache.Cache) []Finding {
	ctx, warnings := captureWarnings(ctx)
	m, err := cache.Open(ctx)
	if err != nil {
		return append([]Finding{problem(singleAttempt(err), fixForCache(err))}, warnings()...)
	}
	defer func() { _ = m.Close() }()
	if client, ok := m.Values()[xctx.RedisClientKey].(redis.UniversalClient); ok {
		before := p.now()
		if at, err := client.Time(ctx).Result(); err == nil {
			p.addClock("Redis", at, before)
		}
	}
	return append([]Finding{ok("connected to %s", m)}, warnings()...)
}

// fixForCache returns the fix for a backend that could not be opened. Errors that a retry
// cannot fix name their variables.
func fixForCache(err error) string {
	_, isURL := xenv.GetEnv(xenv.NoSqlURL)
	switch {
	case errors.Is(err, driver.ErrConfig):
		return "correct the variables in parentheses"
	case isURL:
		return fmt.Sprintf("start the server, or correct %s", xenv.NoSqlURL)
	default:
		return fmt.Sprintf("start the server, or correct %s and %s", xenv.NoSqlHost, xenv.NoSqlPort)
	}
}

// addClock stores the time of a server, queried at before by the clock of this machine.
func (p *target) addClock(server string, at, before time.Time) {
	after := p.now()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clocks = append(p.clocks, reading{
		server: server,
		ahead:  at.Sub(before.Add(after.Sub(before) / 2)), uncertainty: after.Sub(before) / 2,
	})
}
