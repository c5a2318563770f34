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

const mendCacheConfig = "plinth env --group cache lists what there is to set"

// checkCache connects as the service will, once.
func (p *patient) checkCache(ctx context.Context) []Finding {
	name := text(xenv.NoSqlDriver)
	if name == "" || name == none {
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
		return problems(err, mendCacheConfig)
	}
	return p.openCache(ctx, cache)
}

func (p *patient) openCache(ctx context.Context, cache *xcache.Cache) []Finding {
	ctx, log, err := listen(ctx)
	if err != nil {
		return []Finding{problem(err.Error(), mendSelf)}
	}
	m, err := cache.Open(ctx)
	if err != nil {
		return append([]Finding{problem(once(err), mendCache(err))}, log.warnings()...)
	}
	defer func() { _ = m.Close() }()
	if client, is := m.Values()[xctx.RedisClientKey].(redis.UniversalClient); is {
		p.readTime(ctx, client)
	}
	return append([]Finding{ok("%s answers", m)}, log.warnings()...)
}

// mendCache says what to do about a backend that could not be opened. An error that waiting cannot mend names its variables.
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

// readTime asks Redis for its time.
func (p *patient) readTime(ctx context.Context, client redis.UniversalClient) {
	before := p.now()
	at, err := client.Time(ctx).Result()
	if err == nil {
		p.addClock("Redis", at, before)
	}
}

// addClock keeps what a server has said of the time, asked at before by this machine's clock.
func (p *patient) addClock(server string, at, before time.Time) {
	after := p.now()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clocks = append(p.clocks, reading{server: server, ahead: at.Sub(before.Add(after.Sub(before) / 2)), unsure: after.Sub(before) / 2})
}
