package server_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	client "github.com/redis/go-redis/v9"

	"github.com/plinthgo/plinth/tools/devstack/server"
)

// deploy starts a deployment, or skips the test if the binary is not installed.
func deploy(t *testing.T, g *server.Group, name string) *server.Deployment {
	t.Helper()
	topology, ok := server.TopologyByName(name)
	if !ok {
		t.Fatalf("unknown topology %q", name)
	}
	started := time.Now()
	d, err := g.Deploy(t.Context(), topology)
	if missing := (*server.Missing)(nil); errors.As(err, &missing) {
		t.Skip(missing)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s took %s", name, time.Since(started).Round(time.Millisecond))
	return d
}

// passwords returns the passwords of the data nodes and of the sentinels.
func passwords(t *testing.T, d *server.Deployment) (data, sentinels string) {
	t.Helper()
	u, err := url.Parse(strings.ReplaceAll(d.DSN(), ",", "")) // url.Parse rejects several hosts
	if err != nil {
		t.Fatal("the connection string is not a URL")
	}
	data, _ = u.User.Password()
	return data, u.Query().Get("sentinel_password")
}

func addresses(d *server.Deployment, roles ...server.Role) []string {
	var all []string
	for _, n := range d.Nodes() {
		for _, role := range roles {
			if n.Role == role {
				all = append(all, n.Address())
			}
		}
	}
	return all
}

// node returns the node with the given address.
func node(t *testing.T, d *server.Deployment, address string) *server.Node {
	t.Helper()
	for _, n := range d.Nodes() {
		if n.Address() == address {
			return n
		}
	}
	t.Fatalf("no node is at %s", address)
	return nil
}

// eventually calls do until it returns nil.
func eventually(t *testing.T, do func(ctx context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		err := do(ctx)
		if err == nil {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatal(err)
		}
	}
}

func TestDeploy_Sentinel(t *testing.T) {
	d := deploy(t, newGroup(t), "redis-sentinel")
	data, sentinels := passwords(t, d)
	if data == "" || sentinels == "" || data == sentinels {
		t.Fatal("the servers and the sentinels share a password, or lack one")
	}
	c := client.NewFailoverClient(&client.FailoverOptions{
		MasterName: d.Master, Password: data,
		SentinelAddrs: addresses(d, server.RoleSentinel), SentinelPassword: sentinels,
	})
	defer func() { _ = c.Close() }()
	if err := c.Set(t.Context(), "key", "before", 0).Err(); err != nil {
		t.Fatal(err)
	}
	if n, err := c.Wait(t.Context(), 2, 10*time.Second).Result(); err != nil || n != 2 {
		t.Fatalf("%d replicas have the write, %v; want 2", n, err)
	}
	old := addresses(d, server.RoleMaster)[0]
	if err := node(t, d, old).Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, func(ctx context.Context) error { return c.Set(ctx, "key", "after", 0).Err() })
	info, err := c.Info(t.Context(), "server").Result()
	_, port, found := strings.Cut(info, "tcp_port:")
	if err != nil || !found {
		t.Fatalf("INFO = %q, %v", info, err)
	}
	port, _, _ = strings.Cut(port, "\r")
	promoted := node(t, d, "127.0.0.1:"+port)
	if promoted.Role != server.RoleReplica {
		t.Errorf("the new master was a %s", promoted.Role)
	}
	if err := errors.Join(promoted.Kill(t.Context()), promoted.Start(t.Context())); err != nil {
		t.Fatal(err)
	}
	direct := client.NewClient(&client.Options{Addr: promoted.Address(), Password: data})
	defer func() { _ = direct.Close() }()
	role, err := direct.Do(t.Context(), "role").Slice()
	if err != nil || role[0] != "master" {
		t.Errorf("role of the new master after a restart = %v, %v", role, err)
	}
}

func TestDeploy_Cluster(t *testing.T) {
	d := deploy(t, newGroup(t), "redis-cluster")
	data, _ := passwords(t, d)
	c := client.NewClusterClient(&client.ClusterOptions{
		Addrs: addresses(d, server.RoleMaster, server.RoleReplica), Password: data,
	})
	defer func() { _ = c.Close() }()
	if len(d.Nodes()) != 6 || len(addresses(d, server.RoleMaster)) != 3 {
		t.Errorf("nodes = %d, %d of them masters; want 6, 3",
			len(d.Nodes()), len(addresses(d, server.RoleMaster)))
	}
	if err := c.Set(t.Context(), "key", "before", 0).Err(); err != nil {
		t.Fatal(err)
	}
	master, err := c.MasterForKey(t.Context(), "key")
	if err != nil {
		t.Fatal(err)
	}
	if n, err := master.Wait(t.Context(), 1, 10*time.Second).Result(); err != nil || n != 1 {
		t.Fatalf("%d replicas have the write, %v; want 1", n, err)
	}
	if err := node(t, d, master.Options().Addr).Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, func(ctx context.Context) error {
		c.ReloadState(ctx)
		got, err := c.Get(ctx, "key").Result()
		if err == nil && got != "before" {
			err = fmt.Errorf("value of the key = %q", got)
		}
		return err
	})
}

func TestGroup_Close_Deployment(t *testing.T) {
	g, err := server.NewGroup(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	d := deploy(t, g, "redis-sentinel")
	if err := d.Nodes()[1].Pause(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := g.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, n := range d.Nodes() {
		if !isClosed(t, n.Address()) {
			t.Errorf("%s at %s responds after Close", n.Role, n.Address())
		}
	}
	topology, _ := server.TopologyByName("redis-sentinel")
	if _, err := g.Deploy(t.Context(), topology); err == nil {
		t.Error("a closed group started a deployment")
	}
}
