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

// clusterTopology has three masters that share the slots, each with a replica.
var clusterTopology = &Topology{Name: "redis-cluster", Kind: redisKind, build: buildCluster}

const (
	clusterMasters = 3
	clusterNodes   = 2 * clusterMasters
	clusterSlots   = 1 << 14
)

func buildCluster(ctx context.Context, d *Deployment) error {
	settings := func(s *site) {
		s.settings = []string{
			"cluster-enabled yes", "cluster-config-file cluster.conf", "cluster-node-timeout 2000",
		}
	}
	if err := d.add(ctx, clusterMasters, RoleMaster, memberKind, settings); err != nil {
		return err
	}
	if err := d.add(ctx, clusterMasters, RoleReplica, memberKind, settings); err != nil {
		return err
	}
	if err := d.assignSlots(ctx); err != nil {
		return err
	}
	if err := d.meet(ctx); err != nil {
		return err
	}
	if err := d.assignReplicas(ctx); err != nil {
		return err
	}
	if err := d.waitReady(ctx); err != nil {
		return err
	}
	query := url.Values{}
	for _, n := range d.nodes[1:] {
		query.Add("addr", n.Address())
	}
	first := &d.nodes[0].site
	d.dsn = (&url.URL{
		Scheme: "redis+cluster", User: url.UserPassword("", first.password), Host: first.address(),
		RawQuery: query.Encode(),
	}).String()
	return nil
}

// assignSlots assigns a range of slots and a unique config epoch to each master.
func (d *Deployment) assignSlots(ctx context.Context) error {
	for i, n := range d.role(RoleMaster) {
		err := n.withClient(func(c *client.Client) error {
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

// meet introduces the nodes to the first node, and waits until all nodes are connected.
func (d *Deployment) meet(ctx context.Context) error {
	err := d.nodes[0].withClient(func(c *client.Client) error {
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
	return forAll(d.nodes, func(n *Node) error {
		return n.waitFor(ctx, func(ctx context.Context, c *client.Client) error {
			known, err := c.ClusterNodes(ctx).Result()
			if err != nil {
				return err
			}
			if strings.Count(known, " connected") != clusterNodes ||
				strings.Contains(known, "handshake") {
				return errors.New("the node is not connected to all nodes")
			}
			return nil
		})
	})
}

// assignReplicas assigns a replica to each master.
func (d *Deployment) assignReplicas(ctx context.Context) error {
	masters := d.role(RoleMaster)
	for i, n := range d.role(RoleReplica) {
		var id string
		err := masters[i].withClient(func(c *client.Client) (err error) {
			id, err = c.ClusterMyID(ctx).Result()
			return err
		})
		if err != nil {
			return err
		}
		if err := n.withClient(func(c *client.Client) error {
			return c.ClusterReplicate(ctx, id).Err()
		}); err != nil {
			return err
		}
	}
	return nil
}

// waitReady waits until every node reports that all slots are served and lists all
// replicas, and until the replicas are synchronized.
func (d *Deployment) waitReady(ctx context.Context) error {
	return forAll(d.nodes, func(n *Node) error {
		return n.waitFor(ctx, func(ctx context.Context, c *client.Client) error {
			info, err := c.ClusterInfo(ctx).Result()
			if err != nil {
				return err
			}
			if state := fieldOf(info, "cluster_state"); state != "ok" {
				return fmt.Errorf("cluster_state is %q", state)
			}
			known, err := c.ClusterNodes(ctx).Result()
			if err != nil {
				return err
			}
			if got := strings.Count(known, "slave "); got != clusterNodes-clusterMasters {
				return fmt.Errorf("the node lists %d replicas", got)
			}
			if n.Role != RoleReplica {
				return nil
			}
			return synced(ctx, c)
		})
	})
}
