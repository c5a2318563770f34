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
	r := started(t, s, "a:")
	v := &watch{w: r, options: *s.options, servers: serversOf(s)}
	defer v.servers.close()
	old, err := v.dial(t.Context(), master)
	done(t, err)
	defer old.close()
	done(t, v.servers.check(t.Context(), []*feed{old}))

	began := time.Now()
	done(t, server.Pause(node(t, server, master)))
	took := r.waitDisconnected(t, s.Staleness())
	r.waitConnected(t, time.Minute, 2)
	server.Note("near cache: master halted: noticed after %s, connected to another master after %s",
		took, time.Since(began))
	eventually(t, 10*time.Second,
		func() error { return s.client.Set(t.Context(), "a:b", "c", 0).Err() })
	r.waitKey(t, "a:b")
	done(t, server.Continue(node(t, server, master)))
	if err := v.servers.check(t.Context(), []*feed{old}); !errors.Is(err, errMastersChanged) {
		t.Errorf("check with the old master = %v, want %v", err, errMastersChanged)
	}
}

func TestStore_Watch_Cluster(t *testing.T) {
	server := cachetest.StartServers(t, "redis-cluster")
	s := openStore(t, server.URL)
	r := started(t, s, "a:")
	tell := func() {
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
	tell()

	var replica string
	for _, n := range server.Nodes {
		if n.Role == "replica" {
			replica = n.Address
		}
	}
	began := time.Now()
	c := redis.NewClient((&watch{options: *s.options}).server(replica))
	defer func() { _ = c.Close() }()
	done(t, c.ClusterFailover(t.Context()).Err())
	took := r.waitDisconnected(t, 2*s.Staleness()) // the failover itself needs time
	r.waitConnected(t, 10*time.Second, 2)
	server.Note("near cache: master replaced: noticed after %s, all masters again after %s",
		took, time.Since(began))
	tell()

	cluster, ok := s.client.(*redis.ClusterClient)
	if !ok {
		t.Fatalf("the client is a %T", s.client)
	}
	owner, err := cluster.MasterForKey(t.Context(), "a:0")
	done(t, err)
	began = time.Now()
	done(t, server.Kill(node(t, server, owner.Options().Addr)))
	took = r.waitDisconnected(t, s.Staleness())
	r.waitConnected(t, time.Minute, r.began+1)
	server.Note("near cache: master killed: noticed after %s, all masters again after %s",
		took, time.Since(began))
	tell()
}
