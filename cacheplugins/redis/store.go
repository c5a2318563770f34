package redis

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// store implements the interfaces of package driver with one client.
type store struct {
	client  redis.UniversalClient
	options *redis.UniversalOptions
	set     *settings
	calls   *calls
	watches watches
	closed  atomic.Bool
}

var _ interface {
	driver.Store
	driver.Batcher
	driver.Scanner
	driver.Leaser
	driver.Invalidator
	driver.Provider
	fmt.Stringer
} = (*store)(nil)

func newStore(set *settings) *store {
	s := &store{set: set, calls: &calls{}}
	s.options = set.options(s.calls)
	s.client = newClient(s.options)
	return s
}

// do sends one command and returns the client's error, which the caller passes to failed.
func (s *store) do(ctx context.Context, cmd redis.Cmder) error { return s.send(ctx, &call{}, cmd) }

// send is do for a call that is embedded in a larger value.
func (s *store) send(ctx context.Context, c *call, cmd redis.Cmder) error {
	ctx, cancel := s.start(ctx, c)
	err := s.client.Process(ctx, cmd)
	cancel()
	c.end()
	return err
}

// within runs do with a context that limits the calls of do.
func (s *store) within(ctx context.Context, do func(context.Context) error) error {
	c := &call{}
	ctx, cancel := s.start(ctx, c)
	defer c.end()
	defer cancel()
	return do(ctx)
}

// start initializes c as the call of ctx and returns the context for the client.
func (s *store) start(ctx context.Context, c *call) (context.Context, context.CancelFunc) {
	s.calls.start(ctx, c)
	if !s.options.IsClusterMode {
		return c, func() {}
	}
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) <= callTimeout {
		return c, func() {}
	}
	// the client may try several servers, each with its own timeout
	return context.WithDeadline(c, c.deadline())
}

// count sends a command with an integer reply.
func (s *store) count(ctx context.Context, args ...any) (int, error) {
	cmd := redis.NewIntCmd(ctx, args...)
	err := s.do(ctx, cmd)
	return int(cmd.Val()), s.failed(ctx, err)
}

// value sends a command with a string or nil reply.
func (s *store) value(ctx context.Context, args ...any) ([]byte, bool, error) {
	cmd := redis.NewStringCmd(ctx, args...)
	return s.stringValue(ctx, cmd, s.do(ctx, cmd))
}

func (s *store) stringValue(
	ctx context.Context, cmd *redis.StringCmd, err error,
) ([]byte, bool, error) {
	switch {
	case err == nil:
		return bytesOf(cmd.Val()), true, nil
	case missing(err):
		return nil, false, nil
	default:
		return nil, false, s.failed(ctx, err)
	}
}

// Ping implements driver.Store. In a cluster it pings only one of the servers.
func (s *store) Ping(ctx context.Context) error {
	return s.failed(ctx, s.do(ctx, redis.NewStatusCmd(ctx, "ping")))
}

// connect pings the server and maps the error for Open.
func (s *store) connect(ctx context.Context) error {
	err := s.do(ctx, redis.NewStatusCmd(ctx, "ping"))
	if err == nil {
		return nil
	}
	return s.openError(s.failed(ctx, err))
}

// Close implements driver.Store.
func (s *store) Close() error {
	if s.closed.Swap(true) {
		return nil
	}
	s.watches.close()
	// the connection may already be broken
	if err := s.client.Close(); !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

// Values implements driver.Provider.
func (s *store) Values() map[xctx.ContextKey]any {
	return map[xctx.ContextKey]any{xctx.RedisClientKey: s.client}
}

// String implements fmt.Stringer.
func (s *store) String() string {
	var b strings.Builder
	b.WriteString("redis ")
	if s.set.Mode != modeSingle {
		b.WriteString(s.set.Mode + " ")
	}
	if s.set.Master != "" {
		fmt.Fprintf(&b, "%q at ", s.set.Master)
	}
	b.WriteString(strings.Join(s.set.addresses, ","))
	if s.set.Database > 0 {
		fmt.Fprintf(&b, ", database %d", s.set.Database)
	}
	if s.set.tls != nil {
		b.WriteString(", TLS " + s.set.tlsMode)
	}
	return b.String()
}
