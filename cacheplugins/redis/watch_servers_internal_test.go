package redis

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/plinthgo/plinth/conformance/cachetest"
)

func TestStore_Watch_Sentinel(t *testing.T) {
	server, s, master, _ := sentinels(t)
	r := startConnected(t, s, "a:")
	v := &watch{w: r, options: *s.options, servers: serversOf(s)}
	defer v.servers.close()
	old, err := v.dial(t.Context(), master)
	must(t, err)
	defer old.close()
	must(t, v.servers.check(t.Context(), []*feed{old}))

	start := time.Now()
	must(t, server.Pause(node(t, server, master)))
	elapsed := r.waitDisconnected(t, s.Staleness())
	r.waitConnected(t, time.Minute, 2)
	server.Note("near cache, master paused: detected after %s, connected to a new master after %s",
		elapsed, time.Since(start))
	eventually(t, 10*time.Second,
		func() error { return s.client.Set(t.Context(), "a:b", "c", 0).Err() })
	r.waitKey(t, "a:b")
	must(t, server.Continue(node(t, server, master)))
	if err := v.servers.check(t.Context(), []*feed{old}); !errors.Is(err, errMastersChanged) {
		t.Errorf("check with the old master = %v, want %v", err, errMastersChanged)
	}
}

func TestStore_Watch_Cluster(t *testing.T) {
	server := cachetest.StartServers(t, "redis-cluster")
	s := openStore(t, server.URL)
	r := startConnected(t, s, "a:")
	change := func() {
		t.Helper()
		eventually(t, 10*time.Second, func() error {
			_, err := s.client.Pipelined(t.Context(), func(p redis.Pipeliner) error {
				for i := range 10_000 {
					// reported by all masters at once
					p.Set(t.Context(), fmt.Sprint("a:many:", i), "x", time.Second)
				}
				return nil
			})
			return err
		})
		for i := range 30 {
			key := fmt.Sprint("a:", i)
			eventually(t, 10*time.Second,
				func() error { return s.client.Set(t.Context(), key, "x", 0).Err() })
			r.waitKey(t, key)
		}
	}
	change()

	var replica string
	for _, n := range server.Nodes {
		if n.Role == "replica" {
			replica = n.Address
		}
	}
	start := time.Now()
	c := redis.NewClient((&watch{options: *s.options}).server(replica))
	defer func() { _ = c.Close() }()
	must(t, c.ClusterFailover(t.Context()).Err())
	elapsed := r.waitDisconnected(t, 2*s.Staleness()) // the failover itself needs time
	r.waitConnected(t, 10*time.Second, 2)
	server.Note("near cache, master replaced: detected after %s, connected to all masters after %s",
		elapsed, time.Since(start))
	change()

	cluster, ok := s.client.(*redis.ClusterClient)
	if !ok {
		t.Fatalf("the client is a %T", s.client)
	}
	owner, err := cluster.MasterForKey(t.Context(), "a:0")
	must(t, err)
	start = time.Now()
	must(t, server.Kill(node(t, server, owner.Options().Addr)))
	elapsed = r.waitDisconnected(t, s.Staleness())
	r.waitConnected(t, time.Minute, r.connects+1)
	server.Note("near cache, master killed: detected after %s, connected to all masters after %s",
		elapsed, time.Since(start))
	change()
}
