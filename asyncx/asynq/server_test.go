package asynq_test

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	goredis "github.com/redis/go-redis/v9"

	"github.com/plinthgo/plinth/asyncx/asynq"
	"github.com/plinthgo/plinth/asyncx/job/driver"
	"github.com/plinthgo/plinth/asyncx/job/jobtest"
	"github.com/plinthgo/plinth/cacheplugins/redis"
	"github.com/plinthgo/plinth/conformance/cachetest"
	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/major/xcache"
	cachedriver "github.com/plinthgo/plinth/core/major/xcache/driver"
)

// testQueue is the queue of one test on a server.
type testQueue struct {
	config cachedriver.Config
	source string
	queue  string
}

// onRedis returns a new queue on the test server, or skips the test.
func onRedis(tb testing.TB) testQueue {
	tb.Helper()
	address, source := cachetest.Server(tb, redis.Name)
	return newTestQueue(tb, parts(tb, address), source)
}

// newTestQueue returns an empty queue on a server, and cleans it at the end of the test.
func newTestQueue(tb testing.TB, config cachedriver.Config, source string) testQueue {
	tb.Helper()
	p := testQueue{config, source, "test-" + strings.ToLower(rand.Text()[:12])}
	tb.Cleanup(func() { p.clean(tb) })
	return p
}

// parts splits a server URL.
func parts(tb testing.TB, address string) cachedriver.Config {
	tb.Helper()
	u, err := url.Parse(address)
	if err != nil {
		tb.Fatal("cannot parse the server URL")
	}
	host, text, err := net.SplitHostPort(u.Host)
	port, err2 := strconv.Atoi(text)
	if errors.Join(err, err2) != nil {
		tb.Fatal("the server URL has no host or no valid port")
	}
	pass, _ := u.User.Password()
	return cachedriver.Config{Host: host, Port: port, User: u.User.Username(), Pass: pass}
}

// quiet returns a context whose log is discarded.
func quiet(tb testing.TB) context.Context {
	tb.Helper()
	log, err := xlog.New(xlog.Config{Level: slog.LevelError, Writer: io.Discard})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = log.Close() })
	return xlog.NewContext(context.WithoutCancel(tb.Context()), log)
}

// app returns the context of an application whose cache is the server.
func (p testQueue) app(tb testing.TB) (context.Context, goredis.UniversalClient) {
	tb.Helper()
	ctx := quiet(tb)
	m, err := xcache.Open(ctx, xcache.Options{Driver: redis.Name, Config: p.config})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := m.Close(); err != nil {
			tb.Error(err)
		}
	})
	for k, v := range m.Values() {
		ctx = context.WithValue(ctx, k, v) //nolint:fatcontext // a few values
	}
	client, ok := ctx.Value(xctx.RedisClientKey).(goredis.UniversalClient)
	if !ok {
		tb.Fatal("the cache has no client")
	}
	return ctx, client
}

// open opens an engine and closes it at the end of the test.
func (p testQueue) open(
	tb testing.TB, options ...asynq.Option,
) (context.Context, driver.Engine, goredis.UniversalClient) {
	tb.Helper()
	ctx, client := p.app(tb)
	e, err := asynq.Open(append([]asynq.Option{asynq.WithQueue(p.queue)}, options...)...)(ctx)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := e.Close(); err != nil {
			tb.Error(err)
		}
	})
	return ctx, e, client
}

// clean removes the keys of the queue.
func (p testQueue) clean(tb testing.TB) {
	tb.Helper()
	if p.config.URL != "" {
		return // the cluster belongs to the test
	}
	ctx, client := p.app(tb)
	iter := client.Scan(ctx, 0, "asynq:{"+p.queue+":*", 1000).Iterator()
	var keys []string
	for iter.Next(ctx) {
		keys = append(keys, iter.Val())
	}
	for chunk := range slices.Chunk(keys, 1000) {
		client.Del(ctx, chunk...)
	}
	for _, queue := range p.queues(ctx, tb, client) {
		client.SRem(ctx, "asynq:queues", queue)
	}
	if err := iter.Err(); err != nil {
		tb.Error(err)
	}
}

// queues returns the names of asynq's queues that belong to the test queue.
func (p testQueue) queues(
	ctx context.Context, tb testing.TB, client goredis.UniversalClient,
) []string {
	tb.Helper()
	all, err := client.SMembers(ctx, "asynq:queues").Result()
	if err != nil {
		tb.Fatal(err)
	}
	var ours []string
	for _, queue := range all {
		if strings.HasPrefix(queue, p.queue+":") {
			ours = append(ours, queue)
		}
	}
	return ours
}

var errDisconnected = errors.New("disconnected by the test")

// disconnector makes every command fail while down is set, as if the server were
// unreachable.
type disconnector struct{ down atomic.Bool }

// DialHook implements redis.Hook.
func (*disconnector) DialHook(next goredis.DialHook) goredis.DialHook { return next }

// ProcessHook implements redis.Hook.
func (c *disconnector) ProcessHook(next goredis.ProcessHook) goredis.ProcessHook {
	return func(ctx context.Context, cmd goredis.Cmder) error {
		if c.down.Load() {
			cmd.SetErr(errDisconnected)
			return errDisconnected
		}
		return next(ctx, cmd)
	}
}

// ProcessPipelineHook implements redis.Hook.
func (c *disconnector) ProcessPipelineHook(
	next goredis.ProcessPipelineHook,
) goredis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []goredis.Cmder) error {
		if c.down.Load() {
			for _, cmd := range cmds {
				cmd.SetErr(errDisconnected)
			}
			return errDisconnected
		}
		return next(ctx, cmds)
	}
}

// replica opens another replica on the queue. Disconnect also moves its leases two
// minutes into the past, because each check would otherwise wait that long.
func (p testQueue) replica(tb testing.TB) jobtest.Replica {
	tb.Helper()
	ctx, e, client := p.open(tb)
	_, admin := p.app(tb)
	c := &disconnector{}
	client.AddHook(c)
	return jobtest.Replica{
		Engine: e, Context: ctx,
		Disconnect: func(tb testing.TB) {
			tb.Helper()
			c.down.Store(true)
			p.expire(ctx, tb, admin)
		},
		Reconnect: func(testing.TB) { c.down.Store(false) },
	}
}

// expire moves the leases of all running jobs two minutes into the past.
func (p testQueue) expire(ctx context.Context, tb testing.TB, client goredis.UniversalClient) {
	tb.Helper()
	for _, queue := range p.queues(ctx, tb, client) {
		lease := "asynq:{" + queue + "}:lease"
		ids, err := client.ZRange(ctx, lease, 0, -1).Result()
		if err != nil {
			tb.Fatal(err)
		}
		for _, id := range ids {
			if err := client.ZIncrBy(ctx, lease, -120, id).Err(); err != nil {
				tb.Fatal(err)
			}
		}
	}
}
