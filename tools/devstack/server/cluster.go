package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"

	client "github.com/redis/go-redis/v9"
)

// clusterTopology is three masters that share the slots, each with a replica.
var clusterTopology = &Topology{Name: "redis-cluster", Kind: redisKind, build: buildCluster}

const (
	clusterMasters = 3
	clusterNodes   = 2 * clusterMasters
	clusterSlots   = 1 << 14
)

func buildCluster(ctx context.Context, d *Deployment) error {
	settings := func(s *site) {
		s.settings = []string{
			"cluster-enabled yes", "cluster-config-file cluster.conf",
			"cluster-node-timeout 2000",
		}
	}
	if err := d.add(ctx, clusterMasters, RoleMaster, memberKind, settings); err != nil {
		return err
	}
	if err := d.add(ctx, clusterMasters, RoleReplica, memberKind, settings); err != nil {
		return err
	}
	if err := d.share(ctx); err != nil {
		return err
	}
	if err := d.meet(ctx); err != nil {
		return err
	}
	if err := d.follow(ctx); err != nil {
		return err
	}
	if err := d.whole(ctx); err != nil {
		return err
	}
	further := url.Values{}
	for _, n := range d.nodes[1:] {
		further.Add("addr", n.Address())
	}
	first := &d.nodes[0].site
	d.dsn = (&url.URL{
		Scheme: "redis+cluster", User: url.UserPassword("", first.password), Host: first.address(),
		RawQuery: further.Encode(),
	}).String()
	return nil
}

// share gives each master its part of the slots, and an epoch that no other has.
func (d *Deployment) share(ctx context.Context) error {
	for i, n := range d.role(RoleMaster) {
		err := n.ask(func(c *client.Client) error {
			from, to := i*clusterSlots/clusterMasters, (i+1)*clusterSlots/clusterMasters-1
			if err := c.ClusterAddSlotsRange(ctx, from, to).Err(); err != nil {
				return err
			}
			return c.Do(ctx, "cluster", "set-config-epoch", i+1).Err()
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// meet tells the first node of the others, and waits until everybody knows everybody.
func (d *Deployment) meet(ctx context.Context) error {
	err := d.nodes[0].ask(func(c *client.Client) error {
		for _, n := range d.nodes[1:] {
			host, port, err := net.SplitHostPort(n.Address())
			if err == nil {
				err = c.ClusterMeet(ctx, host, port).Err()
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return together(d.nodes, func(n *Node) error {
		return n.settled(ctx, func(ctx context.Context, c *client.Client) error {
			known, err := c.ClusterNodes(ctx).Result()
			if err != nil {
				return err
			}
			if strings.Count(known, " connected") != clusterNodes ||
				strings.Contains(known, "handshake") {
				return errors.New("the node does not know all others")
			}
			return nil
		})
	})
}

// follow gives each master its replica.
func (d *Deployment) follow(ctx context.Context) error {
	masters := d.role(RoleMaster)
	for i, n := range d.role(RoleReplica) {
		var id string
		err := masters[i].ask(func(c *client.Client) (err error) {
			id, err = c.ClusterMyID(ctx).Result()
			return err
		})
		if err != nil {
			return err
		}
		if err := n.ask(func(c *client.Client) error {
			return c.ClusterReplicate(ctx, id).Err()
		}); err != nil {
			return err
		}
	}
	return nil
}

// whole waits until every node finds every slot served, knows every replica as one, and
// every replica has its master's data.
func (d *Deployment) whole(ctx context.Context) error {
	return together(d.nodes, func(n *Node) error {
		return n.settled(ctx, func(ctx context.Context, c *client.Client) error {
			info, err := c.ClusterInfo(ctx).Result()
			if err != nil {
				return err
			}
			if state := fieldOf(info, "cluster_state"); state != "ok" {
				return fmt.Errorf("the state of the cluster is %q", state)
			}
			known, err := c.ClusterNodes(ctx).Result()
			if err != nil {
				return err
			}
			if got := strings.Count(known, "slave "); got != clusterNodes-clusterMasters {
				return fmt.Errorf("the node knows %d replicas", got)
			}
			if n.Role != RoleReplica {
				return nil
			}
			return synced(ctx, c)
		})
	})
}
