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

// checkCache connects as the service will, once.
func (p *patient) checkCache(ctx context.Context) []Finding {
	name := driverOf(xenv.NoSqlDriver)
	if name == "" {
		return []Finding{p.withoutDriver(xenv.NoSqlDriver, xenv.NoSqlURL, xenv.NoSqlHost)}
	}
	if key := p.wrong(xenv.NoSqlPort, "NOSQL_MODE", xenv.NoSqlTLS, xenv.NoSqlDatabase); key != "" {
		return []Finding{skipped("%s is wrong", key)}
	}
	if !slices.Contains(xcache.Drivers(), name) {
		return []Finding{skipped("this program has no driver %q to connect with", name)}
	}
	cache, err := xcache.Resolve(xcache.NewOptions(xcache.FromEnv(), xcache.WithConnectTimeout(0)))
	if err != nil {
		return problems(err, "plinth env --group cache lists what there is to set")
	}
	return p.openCache(ctx, cache)
}

func (p *patient) openCache(ctx context.Context, cache *xcache.Cache) []Finding {
	ctx, warnings := listen(ctx)
	m, err := cache.Open(ctx)
	if err != nil {
		return append([]Finding{problem(once(err), mendCache(err))}, warnings()...)
	}
	defer func() { _ = m.Close() }()
	if client, is := m.Values()[xctx.RedisClientKey].(redis.UniversalClient); is {
		before := p.now()
		if at, err := client.Time(ctx).Result(); err == nil {
			p.addClock("Redis", at, before)
		}
	}
	return append([]Finding{ok("%s answers", m)}, warnings()...)
}

// mendCache says what to do about a backend that could not be opened. An error that
// waiting cannot mend names its variables.
func mendCache(err error) string {
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

// addClock keeps what a server has said of the time, asked at before by this machine's
// clock.
func (p *patient) addClock(server string, at, before time.Time) {
	after := p.now()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clocks = append(p.clocks, reading{
		server: server,
		ahead:  at.Sub(before.Add(after.Sub(before) / 2)), unsure: after.Sub(before) / 2,
	})
}
