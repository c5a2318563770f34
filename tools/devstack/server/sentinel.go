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

// sentinelTopology has a master, two replicas and three sentinels with a quorum of two.
// The sentinels have a separate password.
var sentinelTopology = &Topology{Name: "redis-sentinel", Kind: redisKind, build: buildSentinel}

// masterName is the name of the master in the configuration of the sentinels.
const masterName = "mymaster"

func buildSentinel(ctx context.Context, d *Deployment) error {
	d.Master = masterName
	if err := d.add(ctx, 1, RoleMaster, memberKind, func(*site) {}); err != nil {
		return err
	}
	master := d.nodes[0].site // no concurrent access yet
	address := fmt.Sprintf("%s %d", loopback, master.port)
	configure := func(s *site) { s.settings = []string{"replicaof " + address} }
	if err := d.add(ctx, 2, RoleReplica, memberKind, configure); err != nil {
		return err
	}
	// If the replicas are connected before a sentinel starts, it discovers them
	// immediately, otherwise after ten seconds.
	err := forAll(d.role(RoleReplica), func(n *Node) error { return n.waitFor(ctx, synced) })
	if err != nil {
		return err
	}
	password := rand.Text()
	err = d.add(ctx, 3, RoleSentinel, sentinelKind, func(s *site) {
		s.secrets = []string{s.password}
		s.settings = []string{
			"sentinel monitor " + masterName + " " + address + " 2",
			"sentinel auth-pass " + masterName + " " + s.password,
			"sentinel down-after-milliseconds " + masterName + " 1000",
			// A failover that exceeds the timeout is aborted, and the next failover loses
			// the writes of its master.
			"sentinel failover-timeout " + masterName + " 15000",
		}
		s.password = password
	})
	if err != nil {
		return err
	}
	var addresses []string
	for _, n := range d.role(RoleSentinel) {
		addresses = append(addresses, n.Address())
	}
	d.dsn = (&url.URL{
		Scheme: "redis+sentinel", User: url.UserPassword("", master.password),
		Host: strings.Join(addresses, ","), Path: "/" + masterName + "/0",
		RawQuery: url.Values{"sentinel_password": {password}}.Encode(),
	}).String()
	return forAll(d.role(RoleSentinel), func(n *Node) error { return n.waitFor(ctx, watches) })
}

// watches returns an error until the sentinel has discovered the other sentinels and the
// replicas.
func watches(ctx context.Context, c *client.Client) error {
	s := client.NewSentinelClient(c.Options())
	defer func() { _ = s.Close() }()
	known, err := s.Master(ctx, masterName).Result()
	if err != nil {
		return err
	}
	if known["num-slaves"] != "2" || known["num-other-sentinels"] != "2" ||
		known["flags"] != "master" {
		return errors.New("the sentinel has not discovered all nodes")
	}
	return s.CkQuorum(ctx, masterName).Err()
}
