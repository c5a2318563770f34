package server

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"strings"

	client "github.com/redis/go-redis/v9"
)

// sentinelTopology is a master with two replicas, and three sentinels of which two have
// to agree that the master is down. The sentinels have a password of their own.
var sentinelTopology = &Topology{Name: "redis-sentinel", Kind: redisKind, build: buildSentinel}

// masterName is the one under which the sentinels know the servers.
const masterName = "mymaster"

func buildSentinel(ctx context.Context, d *Deployment) error {
	d.Master = masterName
	if err := d.add(ctx, 1, RoleMaster, memberKind, func(*site) {}); err != nil {
		return err
	}
	master := d.nodes[0].site // nobody else has it yet
	where := fmt.Sprintf("%s %d", loopback, master.port)
	if err := d.add(ctx, 2, RoleReplica, memberKind,
		func(s *site) { s.settings = []string{"replicaof " + where} }); err != nil {
		return err
	}
	// A sentinel that begins when the replicas are there finds them at once, else ten
	// seconds later.
	err := together(d.role(RoleReplica), func(n *Node) error { return n.settled(ctx, synced) })
	if err != nil {
		return err
	}
	own := rand.Text()
	err = d.add(ctx, 3, RoleSentinel, sentinelKind, func(s *site) {
		s.secrets = []string{s.password}
		s.settings = []string{
			"sentinel monitor " + masterName + " " + where + " 2",
			"sentinel auth-pass " + masterName + " " + s.password,
			"sentinel down-after-milliseconds " + masterName + " 1000",
			// A failover that takes longer is given up, and what its master has taken by
			// then is lost in the next.
			"sentinel failover-timeout " + masterName + " 15000",
		}
		s.password = own
	})
	if err != nil {
		return err
	}
	var addresses []string
	for _, n := range d.role(RoleSentinel) {
		addresses = append(addresses, n.Address())
	}
	d.dsn = (&url.URL{
		Scheme: "redis+sentinel",
		User:   url.UserPassword("", master.password), Host: strings.Join(addresses, ","),
		Path: "/" + masterName + "/0", RawQuery: url.Values{"sentinel_password": {own}}.Encode(),
	}).String()
	return together(d.role(RoleSentinel), func(n *Node) error { return n.settled(ctx, watches) })
}

// watches reports a sentinel that does not know all of the others and of the replicas
// yet.
func watches(ctx context.Context, c *client.Client) error {
	s := client.NewSentinelClient(c.Options())
	defer func() { _ = s.Close() }()
	known, err := s.Master(ctx, masterName).Result()
	if err != nil {
		return err
	}
	if known["num-slaves"] != "2" || known["num-other-sentinels"] != "2" ||
		known["flags"] != "master" {
		return errors.New("the sentinel does not know all nodes")
	}
	return s.CkQuorum(ctx, masterName).Err()
}
