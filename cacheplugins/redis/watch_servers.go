package redis

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"sync"

	"github.com/redis/go-redis/v9"
)

// servers finds the masters.
type servers interface {
	// masters returns the addresses that a watch must connect to.
	masters(ctx context.Context) ([]string, error)
	// check returns an error if the feeds do not cover all masters, or if the masters
	// cannot be determined.
	check(ctx context.Context, feeds []*feed) error
	// close releases the resources.
	close()
}

func serversOf(s *store) servers {
	if c, ok := s.client.(*redis.ClusterClient); ok {
		return clusterServers{c}
	}
	if s.options.MasterName != "" {
		return newSentinelServers(s.options)
	}
	return singleServer(s.options.Addrs[0])
}

// singleServer is the address of a single server.
type singleServer string

func (s singleServer) masters(context.Context) ([]string, error) { return []string{string(s)}, nil }
func (singleServer) check(context.Context, []*feed) error        { return nil }
func (singleServer) close()                                      {}

// sentinelServers finds the master with Sentinel.
type sentinelServers struct {
	name      string
	sentinels []*redis.SentinelClient
}

func newSentinelServers(o *redis.UniversalOptions) *sentinelServers {
	s := &sentinelServers{name: o.MasterName}
	for _, address := range o.Addrs {
		s.sentinels = append(s.sentinels, redis.NewSentinelClient(&redis.Options{
			Addr: address, Username: o.SentinelUsername, Password: o.SentinelPassword,
			Dialer: o.Dialer, TLSConfig: o.TLSConfig,
			Protocol: 2, DisableIdentity: true, ContextTimeoutEnabled: true,
			PoolSize: 1, MaxRetries: -1, DialerRetries: 1, DialTimeout: heartbeat / 2,
			ReadTimeout: heartbeat / 2, WriteTimeout: heartbeat / 2,
		}))
	}
	return s
}

// masters queries all sentinels. They must agree, because an isolated sentinel may return
// the former master.
func (s *sentinelServers) masters(ctx context.Context) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, heartbeat/2)
	defer cancel()
	var mu sync.Mutex
	addresses := map[string]bool{}
	err := together(len(s.sentinels), func(i int) error {
		reply, err := s.sentinels[i].GetMasterAddrByName(ctx, s.name).Result()
		if err != nil {
			return fmt.Errorf("query master from sentinel: %w", err)
		}
		mu.Lock()
		defer mu.Unlock()
		addresses[net.JoinHostPort(reply[0], reply[1])] = true
		return nil
	})
	switch masters := slices.Collect(maps.Keys(addresses)); len(masters) {
	case 1:
		return masters, nil
	case 0:
		return nil, err
	default:
		return nil, fmt.Errorf("the sentinels disagree about the master: %v", masters)
	}
}

func (s *sentinelServers) check(ctx context.Context, feeds []*feed) error {
	masters, err := s.masters(ctx)
	if err == nil && masters[0] != feeds[0].address {
		err = errMastersChanged
	}
	return err
}

func (s *sentinelServers) close() {
	for _, sentinel := range s.sentinels {
		_ = sentinel.Close()
	}
}

// errMastersChanged reports that the masters have changed.
var errMastersChanged = errors.New("the masters have changed")

// clusterServers finds the masters of a cluster.
type clusterServers struct{ client *redis.ClusterClient }

func (c clusterServers) masters(ctx context.Context) ([]string, error) {
	var mu sync.Mutex
	var addresses []string
	err := c.client.ForEachMaster(ctx, func(_ context.Context, master *redis.Client) error {
		mu.Lock()
		defer mu.Unlock()
		addresses = append(addresses, master.Options().Addr)
		return nil
	})
	if err == nil && len(addresses) == 0 {
		err = errors.New("the cluster has no master")
	}
	return addresses, err
}

// check queries the cluster state of every master, so that an isolated or former master
// is detected.
func (clusterServers) check(ctx context.Context, feeds []*feed) error {
	nodes := make([]string, len(feeds))
	views := make([][]redis.ClusterSlot, len(feeds))
	err := together(len(feeds), func(i int) (err error) {
		nodes[i] = feeds[i].node
		views[i], err = feeds[i].control.ClusterSlots(ctx).Result() //nolint:staticcheck // supports Redis 6
		return err
	})
	if err != nil {
		return err
	}
	slices.Sort(nodes)
	for _, view := range views {
		var masters []string
		for _, slots := range view {
			if len(slots.Nodes) > 0 { // the first node is the master
				masters = append(masters, slots.Nodes[0].ID)
			}
		}
		slices.Sort(masters)
		if !slices.Equal(slices.Compact(masters), nodes) {
			return errMastersChanged
		}
	}
	return nil
}

func (clusterServers) close() {}
