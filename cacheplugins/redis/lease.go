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

// LeaseBackend stores leases under keys that start with prefix.
//
// Each operation is one script that uses the server's clock. A server can lose a record
// if it restarts without persistence, evicts keys, or fails over to a replica that lags.
// To protect a record against such a failover, Acquire waits until a connected replica
// has confirmed it, and fails if none does. Renewals do not wait: the record on the
// replica expires later than the holder stops using its lease.
func (s *store) LeaseBackend(prefix string) leasedriver.Backend {
	return &leases{store: s, prefix: prefix}
}

type leases struct {
	store  *store
	prefix string
}

// errUnconfirmed reports a record that a failover could lose.
var errUnconfirmed = errors.New("no replica confirmed the lease in time")

// Capabilities implements leasedriver.Backend.
func (*leases) Capabilities() leasedriver.Capabilities {
	return leasedriver.Capabilities{Scope: leasedriver.Cluster, Name: "redis"}
}

// Acquire implements leasedriver.Backend.
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
		return leasedriver.Grant{}, permissionError(l.store.failed(ctx, err))
	}
	return grant, nil
}

// permissionError adds the required permissions to a permission error.
func permissionError(err error) error {
	var reply redis.Error
	if !errors.As(err, &reply) || !strings.Contains(reply.Error(), "NOPERM") &&
		!strings.Contains(reply.Error(), "can't run this command") {
		return err
	}
	return fmt.Errorf("%w: leases need a user (%s) with the permissions %s: %w",
		driver.ErrConfig, xenv.NoSqlUser, leaseRights, err)
}

// acquire acquires a slot and waits for a replica, if any, to confirm it.
func (l *leases) acquire(
	ctx context.Context, conn *redis.Conn, r leasedriver.Request,
) (leasedriver.Grant, error) {
	reply, err := leaseAcquire.Run(ctx, conn, []string{l.prefix + r.Name},
		r.First, r.Count, r.Begin, r.Holder, r.TTL.Milliseconds(), r.Mark, r.Past).StringSlice()
	if err != nil {
		return leasedriver.Grant{}, err
	}
	grant, replicas, err := readGrant(reply)
	if err != nil || replicas == 0 {
		return grant, err
	}
	if err := confirm(ctx, conn, r.TTL); err != nil {
		// If Release fails too, the record expires.
		_, _ = l.Release(ctx, leasedriver.Holding{
			Name: r.Name, Slot: grant.Slot, Holder: r.Holder, Mark: grant.Mark,
		})
		return leasedriver.Grant{}, err
	}
	return grant, nil
}

// readGrant parses the reply of leaseAcquire.
func readGrant(reply []string) (grant leasedriver.Grant, replicas int64, err error) {
	numbers := make([]int64, len(reply))
	for i, word := range reply {
		if numbers[i], err = strconv.ParseInt(word, 10, 64); err != nil {
			return grant, 0, fmt.Errorf("parse lease record: %w", err)
		}
	}
	micros := func(i int) time.Duration { return time.Duration(numbers[i]) * time.Microsecond }
	if len(numbers) == 1 {
		return leasedriver.Grant{Wait: micros(0)}, 0, nil
	}
	return leasedriver.Grant{
		OK: true, Slot: int(numbers[0]), Token: numbers[1], Mark: numbers[2], Age: micros(3),
	}, numbers[4], nil
}

// confirm waits until a replica has the writes of the connection. The wait is a small
// part of the TTL, because the holder uses the lease for two thirds of the TTL from
// before the request. A lease with a short TTL may have expired when it is confirmed.
func confirm(ctx context.Context, conn *redis.Conn, ttl time.Duration) error {
	wait := min(max(ttl/6, minConfirm), maxConfirm)
	if deadline, ok := ctx.Deadline(); ok {
		wait = max(min(wait, time.Until(deadline)/2), time.Millisecond) // 0 would block forever
	}
	n, err := conn.Wait(ctx, 1, wait).Result()
	if err == nil && n == 0 {
		err = errUnconfirmed
	}
	return err
}

// Limits of the time for a replica to confirm, which is normally below a millisecond.
const (
	minConfirm = 100 * time.Millisecond
	maxConfirm = 500 * time.Millisecond
)

// onServer calls do with a connection to the server of the key. It does not resend after
// a lost reply, but it follows MOVED redirects.
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
		if err == nil || !l.redirected(ctx, err) {
			return err
		}
	}
	return err
}

// maxServers is the maximum number of servers to try for one key.
const maxServers = 3

// redirected reports whether err is a MOVED redirect and reloads the cluster state. After
// a connection error it reloads the state in the background.
func (l *leases) redirected(ctx context.Context, err error) bool {
	cluster, ok := l.store.client.(*redis.ClusterClient)
	if !ok {
		return false
	}
	// ASK, for a new name in a migrating slot, remains an error
	moved := redis.HasErrorPrefix(err, "MOVED ")
	var reply redis.Error
	switch {
	case moved:
		_ = cluster.ForEachMaster(ctx, func(context.Context, *redis.Client) error { return nil })
	case !errors.As(err, &reply):
		cluster.ReloadState(ctx) // in the background
	}
	return moved
}

// server returns the client of the server of the key.
func (l *leases) server(ctx context.Context, key string) (*redis.Client, error) {
	switch c := l.store.client.(type) {
	case *redis.ClusterClient:
		return c.MasterForKey(ctx, key)
	case *redis.Client:
		return c, nil
	default:
		return nil, fmt.Errorf("leases are not supported by a %T", c)
	}
}

// Renew implements leasedriver.Backend.
func (l *leases) Renew(ctx context.Context, h leasedriver.Holding) (held bool, err error) {
	n, err := l.store.run(ctx, leaseRenew, l.prefix+h.Name,
		h.Slot, h.Holder, h.TTL.Milliseconds(), h.Token, h.Mark)
	return n == 1, permissionError(err)
}

// Release implements leasedriver.Backend.
func (l *leases) Release(ctx context.Context, h leasedriver.Holding) (held bool, err error) {
	n, err := l.store.run(ctx, leaseRelease, l.prefix+h.Name, h.Slot, h.Holder, h.Mark)
	return n == 1, permissionError(err)
}
