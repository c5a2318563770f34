package redis

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// invalidations is the channel of a server's invalidation messages.
const invalidations = "__redis__:invalidate"

// feed is the connection that receives the invalidations of one server.
type feed struct {
	address string
	node    string // the ID of the server in its cluster

	client *redis.Client
	sub    *redis.PubSub
	pongs  atomic.Int64 // number of received pongs

	control *redis.Client // for queries to the same server
}

// errReconnect rejects a reconnect of the client, because invalidations in between would
// be lost.
var errReconnect = errors.New("watch connections are not reopened")

// dial starts to watch one server.
func (v *watch) dial(ctx context.Context, address string) (*feed, error) {
	f := &feed{address: address, control: redis.NewClient(v.server(address))}
	o := v.server(address)
	connect := o.Dialer
	var used atomic.Bool
	o.Dialer = func(ctx context.Context, network, address string) (net.Conn, error) {
		if used.Swap(true) {
			return nil, errReconnect
		}
		return connect(ctx, network, address)
	}
	o.OnConnect = func(ctx context.Context, conn *redis.Conn) error {
		return permanentError(v.track(ctx, conn, f))
	}
	f.client = redis.NewClient(o)
	f.sub = f.client.Subscribe(ctx)
	if err := f.subscribe(ctx); err != nil {
		f.close()
		return nil, fmt.Errorf("watch %s: %w", address, err)
	}
	return f, nil
}

// server returns the options of a client for one server, without retries and with
// timeouts of at most one heartbeat.
func (v *watch) server(address string) *redis.Options {
	o := v.options.Simple()
	o.Addr, o.DB = address, 0 // a server reports the keys of all databases
	// with RESP2 invalidations arrive as messages
	o.Protocol = 2
	o.DisableIdentity, o.ContextTimeoutEnabled = true, true
	o.PoolSize, o.MinIdleConns, o.MaxRetries, o.DialerRetries = 1, 0, -1, 1
	o.DialTimeout, o.ReadTimeout, o.WriteTimeout = heartbeat, heartbeat, heartbeat/2
	return o
}

// track enables client tracking for the connection.
func (v *watch) track(ctx context.Context, conn *redis.Conn, f *feed) (err error) {
	if _, ok := v.servers.(clusterServers); ok {
		if f.node, err = conn.ClusterMyID(ctx).Result(); err != nil {
			return err
		}
	}
	id, err := conn.ClientID(ctx).Result()
	if err != nil {
		return err
	}
	args := []any{"client", "tracking", "on", "redirect", id, "bcast"}
	if v.prefix != "" {
		args = append(args, "prefix", v.prefix)
	}
	return conn.Process(ctx, redis.NewStatusCmd(ctx, args...))
}

// subscribe returns after the server confirmed the subscription.
func (f *feed) subscribe(ctx context.Context) error {
	if err := f.sub.Subscribe(ctx, invalidations); err != nil {
		return err
	}
	reply, err := f.sub.ReceiveTimeout(ctx, heartbeat)
	if err != nil {
		return permanentError(err)
	}
	if _, ok := reply.(*redis.Subscription); !ok {
		return fmt.Errorf("unexpected reply to SUBSCRIBE: %T", reply)
	}
	return nil
}

// permanentError wraps a permanent error of the server in driver.ErrConfig.
func permanentError(err error) error {
	var reply redis.Error
	if !errors.As(err, &reply) || redis.HasErrorPrefix(err, "BUSY") ||
		redis.HasErrorPrefix(err, "LOADING") {
		return err
	}
	return fmt.Errorf("%w: client tracking failed; it needs Redis 6 and a user with "+
		"the permissions +client|id +client|tracking +subscribe +ping &%s and, "+
		"in a cluster, +cluster|myid +cluster|slots: %w",
		driver.ErrConfig, invalidations, err)
}

// read reports invalidations until the connection breaks or a message has no keys. After
// FLUSHALL the server sends null, which the client reports as an error. The watcher then
// drops all keys because it is disconnected.
func (f *feed) read(ctx context.Context, invalidate func(keys []string)) {
	for {
		reply, err := f.sub.ReceiveTimeout(ctx, staleness)
		if err != nil {
			return
		}
		switch m := reply.(type) {
		case *redis.Pong:
			f.pongs.Add(1)
		case *redis.Message:
			if len(m.PayloadSlice) > 0 { // otherwise another client published the message
				invalidate(m.PayloadSlice)
			}
		default:
			return
		}
	}
}

// sendPings pings the server every heartbeat, and returns if a pong is late.
func (f *feed) sendPings(ctx context.Context) {
	tick := time.NewTicker(heartbeat)
	defer tick.Stop()
	for sent := int64(1); ; sent++ {
		if err := f.sub.Ping(ctx); err != nil {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		if f.pongs.Load() < sent {
			return
		}
	}
}

// close closes the connections. It does nothing on a nil feed.
func (f *feed) close() {
	if f == nil {
		return
	}
	_ = f.sub.Close()
	_ = f.client.Close()
	_ = f.control.Close()
}
