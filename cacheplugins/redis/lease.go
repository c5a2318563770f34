package redis

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	leasedriver "github.com/plinthgo/plinth/core/common/xlease/driver"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// LeaseBackend keeps the records of leases under keys that begin with prefix.
//
// Each operation is one script with the server's clock. What a server keeps in memory it
// may forget: when it restarts without persistence, when it evicts keys, and when a
// replica takes over that had not got the latest writes. Against the last, a record that
// is taken while replicas are connected counts only when one of them has confirmed it.
// The answer is an error otherwise: a replica that lags is the one that could take over
// without the record. Renewals do not wait, since the record that a replica has from
// before lasts beyond the time for which the holder relies on its lease.
func (s *store) LeaseBackend(prefix string) leasedriver.Backend {
	return &leases{store: s, prefix: prefix}
}

type leases struct {
	store  *store
	prefix string
}

// errUnconfirmed is the error of a record that the server might lose with itself.
var errUnconfirmed = errors.New("no replica has confirmed the lease in time")

// Capabilities implements the driver's Backend.
func (*leases) Capabilities() leasedriver.Capabilities {
	return leasedriver.Capabilities{Scope: leasedriver.Cluster, Name: "redis"}
}

// Acquire implements the driver's Backend.
func (l *leases) Acquire(
	ctx context.Context, r leasedriver.Request,
) (grant leasedriver.Grant, err error) {
	err = l.store.within(ctx, func(ctx context.Context) error {
		return l.onServer(ctx, l.prefix+r.Name, func(conn *redis.Conn) error {
			grant, err = l.acquire(ctx, conn, r)
			return err
		})
	})
	if err != nil {
		return leasedriver.Grant{}, refused(l.store.failed(ctx, err))
	}
	return grant, nil
}

// refused says what a user lacks.
func refused(err error) error {
	var answer redis.Error
	if !errors.As(err, &answer) || !strings.Contains(answer.Error(), "NOPERM") &&
		!strings.Contains(answer.Error(), "can't run this command") {
		return err
	}
	return fmt.Errorf("%w: locks and leases want a user (%s) with the rights %s: %w",
		driver.ErrConfig, xenv.NoSqlUser, leaseRights, err)
}

// acquire takes a slot and makes sure that a replica knows of it, where there is one.
func (l *leases) acquire(
	ctx context.Context, conn *redis.Conn, r leasedriver.Request,
) (leasedriver.Grant, error) {
	answer, err := leaseAcquire.Run(ctx, conn, []string{l.prefix + r.Name},
		r.First, r.Count, r.Begin, r.Holder, r.TTL.Milliseconds(), r.Mark, r.Past).StringSlice()
	if err != nil {
		return leasedriver.Grant{}, err
	}
	grant, replicas, err := readGrant(answer)
	if err != nil || replicas == 0 {
		return grant, err
	}
	if err := confirm(ctx, conn, r.TTL); err != nil {
		// Where this fails too the record ends by itself.
		_, _ = l.Release(ctx, leasedriver.Holding{
			Name: r.Name, Slot: grant.Slot, Holder: r.Holder,
			Mark: grant.Mark,
		})
		return leasedriver.Grant{}, err
	}
	return grant, nil
}

// readGrant reads the answer of leaseAcquire.
func readGrant(answer []string) (grant leasedriver.Grant, replicas int64, err error) {
	numbers := make([]int64, len(answer))
	for i, word := range answer {
		if numbers[i], err = strconv.ParseInt(word, 10, 64); err != nil {
			return grant, 0, fmt.Errorf("the record of a lease: %w", err)
		}
	}
	micros := func(i int) time.Duration { return time.Duration(numbers[i]) * time.Microsecond }
	if len(numbers) == 1 {
		return leasedriver.Grant{Wait: micros(0)}, 0, nil
	}
	return leasedriver.Grant{
		OK: true, Slot: int(numbers[0]), Token: numbers[1], Mark: numbers[2],
		Age: micros(3),
	}, numbers[4], nil
}

// confirm waits until a replica has what the connection wrote. The holder relies on two
// thirds of the TTL, from before the request on, so that a long wait costs a small part
// of that; with a short TTL the lease may have ended when it is confirmed.
func confirm(ctx context.Context, conn *redis.Conn, ttl time.Duration) error {
	wait := min(max(ttl/6, minConfirm), maxConfirm)
	if deadline, ok := ctx.Deadline(); ok {
		wait = max(min(wait, time.Until(deadline)/2), time.Millisecond) // 0 would be for ever
	}
	n, err := conn.Wait(ctx, 1, wait).Result()
	if err == nil && n == 0 {
		err = errUnconfirmed
	}
	return err
}

// How long a replica has to confirm, which on an idle machine takes less than a
// millisecond.
const (
	minConfirm = 100 * time.Millisecond
	maxConfirm = 500 * time.Millisecond
)

// onServer calls do with a connection to the server that the key belongs to. What it
// sends is not sent again where an answer is lost; only a server that has refused because
// the key is another one's is followed by that.
func (l *leases) onServer(
	ctx context.Context, key string, do func(conn *redis.Conn) error,
) (err error) {
	for range maxServers {
		var client *redis.Client
		if client, err = l.server(ctx, key); err != nil {
			return err
		}
		conn := client.Conn()
		err = do(conn)
		_ = conn.Close()
		if err == nil || !l.elsewhere(ctx, err) {
			return err
		}
	}
	return err
}

// maxServers bounds how many servers are asked for a key that turns out to be another
// one's.
const maxServers = 3

// elsewhere reports whether an error says that the key belongs to another server of the
// cluster, and learns which. After an error of the connection it also learns who is
// there, for the next call.
func (l *leases) elsewhere(ctx context.Context, err error) bool {
	cluster, ok := l.store.client.(*redis.ClusterClient)
	if !ok {
		return false
	}
	// ASK, of a new name in slots on their way, stays an error for that time
	moved := redis.HasErrorPrefix(err, "MOVED ")
	var answer redis.Error
	switch {
	case moved:
		_ = cluster.ForEachMaster(ctx, func(context.Context, *redis.Client) error { return nil })
	case !errors.As(err, &answer):
		cluster.ReloadState(ctx) // in the background
	}
	return moved
}

// server returns the client of the server that the key belongs to.
func (l *leases) server(ctx context.Context, key string) (*redis.Client, error) {
	switch c := l.store.client.(type) {
	case *redis.ClusterClient:
		return c.MasterForKey(ctx, key)
	case *redis.Client:
		return c, nil
	default:
		return nil, fmt.Errorf("no leases over a %T", c)
	}
}

// Renew implements the driver's Backend.
func (l *leases) Renew(ctx context.Context, h leasedriver.Holding) (held bool, err error) {
	n, err := l.store.run(ctx, leaseRenew, l.prefix+h.Name, h.Slot, h.Holder, h.TTL.Milliseconds(),
		h.Token, h.Mark)
	return n == 1, refused(err)
}

// Release implements the driver's Backend.
func (l *leases) Release(ctx context.Context, h leasedriver.Holding) (held bool, err error) {
	n, err := l.store.run(ctx, leaseRelease, l.prefix+h.Name, h.Slot, h.Holder, h.Mark)
	return n == 1, refused(err)
}
