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

// invalidations is the channel on which a server tells of changed keys.
const invalidations = "__redis__:invalidate"

// feed is a connection on which one server tells of keys.
type feed struct {
	address string
	node    string // the server's name in its cluster

	client *redis.Client
	sub    *redis.PubSub
	signs  atomic.Int64 // of life

	control *redis.Client // for questions to the same server
}

// errSecond is the error of a connection that the client would make by itself when the
// first one breaks: what happened in between would go untold.
var errSecond = errors.New("a watch has one connection")

// dial begins to watch one server.
func (v *watch) dial(ctx context.Context, address string) (*feed, error) {
	f := &feed{address: address, control: redis.NewClient(v.server(address))}
	o := v.server(address)
	connect := o.Dialer
	var used atomic.Bool
	o.Dialer = func(ctx context.Context, network, address string) (net.Conn, error) {
		if used.Swap(true) {
			return nil, errSecond
		}
		return connect(ctx, network, address)
	}
	o.OnConnect = func(ctx context.Context, conn *redis.Conn) error {
		return refusal(v.track(ctx, conn, f))
	}
	f.client = redis.NewClient(o)
	f.sub = f.client.Subscribe(ctx)
	if err := f.subscribe(ctx); err != nil {
		f.close()
		return nil, fmt.Errorf("watch %s: %w", address, err)
	}
	return f, nil
}

// server returns the options of a client for one server. Nothing is tried twice, and
// nothing takes longer than a beat.
func (v *watch) server(address string) *redis.Options {
	o := v.options.Simple()
	o.Addr, o.DB = address, 0 // a server tells of all databases
	// what the server tells then comes as messages, which can be waited for
	o.Protocol = 2
	o.DisableIdentity, o.ContextTimeoutEnabled = true, true
	o.PoolSize, o.MinIdleConns, o.MaxRetries, o.DialerRetries = 1, 0, -1, 1
	o.DialTimeout, o.ReadTimeout, o.WriteTimeout = beat, beat, beat/2
	return o
}

// track lets the server tell the connection of keys.
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

// subscribe returns when the server has confirmed.
func (f *feed) subscribe(ctx context.Context) error {
	if err := f.sub.Subscribe(ctx, invalidations); err != nil {
		return err
	}
	answer, err := f.sub.ReceiveTimeout(ctx, beat)
	if err != nil {
		return refusal(err)
	}
	if _, ok := answer.(*redis.Subscription); !ok {
		return fmt.Errorf("the answer to a subscription is a %T", answer)
	}
	return nil
}

// refusal gives a server's answer that waiting cannot mend its reason.
func refusal(err error) error {
	var answer redis.Error
	if !errors.As(err, &answer) || redis.HasErrorPrefix(err, "BUSY") ||
		redis.HasErrorPrefix(err, "LOADING") {
		return err
	}
	return fmt.Errorf("%w: the server does not tell of changed keys, which takes Redis 6 and a user with the rights "+
		"+client|id +client|tracking +subscribe +ping &%s, in a cluster also +cluster|myid +cluster|slots: %w", driver.ErrConfig, invalidations, err)
}

// read passes on what the server tells, until the connection breaks or brings what has no
// keys: after FLUSHALL the server sends null, which the client reports as an error, and
// the watcher forgets all keys because it is disconnected.
func (f *feed) read(ctx context.Context, tell func(keys []string)) {
	for {
		answer, err := f.sub.ReceiveTimeout(ctx, staleness)
		if err != nil {
			return
		}
		switch m := answer.(type) {
		case *redis.Pong:
			f.signs.Add(1)
		case *redis.Message:
			if len(m.PayloadSlice) > 0 { // else someone published it
				tell(m.PayloadSlice)
			}
		default:
			return
		}
	}
}

// beat returns when the server gave no sign of life in time.
func (f *feed) beat(ctx context.Context) {
	tick := time.NewTicker(beat)
	defer tick.Stop()
	for asked := int64(1); ; asked++ {
		if err := f.sub.Ping(ctx); err != nil {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		if f.signs.Load() < asked {
			return
		}
	}
}

// close ends the connection. A nil feed has none.
func (f *feed) close() {
	if f == nil {
		return
	}
	_ = f.sub.Close()
	_ = f.client.Close()
	_ = f.control.Close()
}
