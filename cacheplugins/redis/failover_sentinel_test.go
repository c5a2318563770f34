package redis_test

import (
	"net/url"
	"slices"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/plinthgo/plinth/conformance/cachetest"
)

// lag is the maximum replication lag on a busy machine.
const lag = time.Second

// master returns the first node that started as a master.
func master(t *testing.T, s *cachetest.Servers) cachetest.Node {
	t.Helper()
	i := slices.IndexFunc(s.Nodes, func(n cachetest.Node) bool { return n.Role == "master" })
	if i < 0 {
		t.Fatal("no master")
	}
	return s.Nodes[i]
}

// direct returns a client of one node.
func direct(t *testing.T, s *cachetest.Servers, n cachetest.Node) *goredis.Client {
	t.Helper()
	c := goredis.NewClient(&goredis.Options{Addr: n.Address, Password: s.Password})
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestSentinel_Failover(t *testing.T) {
	t.Run("replaces a killed master", func(t *testing.T) {
		s := cachetest.StartServers(t, "redis-sentinel")
		m := openServers(t, s.URL)
		w := startWrites(m, 4, deadline, plainName)
		sleep(time.Second)
		if err := s.Kill(master(t, s).Name); err != nil {
			t.Fatal(err)
		}
		killed := time.Now()
		recovered := w.allSucceeded(killed, failover)
		sleep(500 * time.Millisecond)
		w.end()
		if !recovered {
			t.Fatalf("no new master %s after the failure: %v", failover, w.problem)
		}
		w.wantBounded(t)
		lost := w.lost(t, m)
		wantRecentLosses(t, lost, killed)
		s.Note("master killed: %s; %d of %d acknowledged writes lost", w, len(lost), len(w.acked))
	})

	t.Run("replaces a paused master", func(t *testing.T) {
		for _, tc := range []struct {
			name     string
			replicas string // that a master needs to accept writes
		}{
			{name: "min-replicas-to-write 0", replicas: "0"},
			{name: "min-replicas-to-write 1", replicas: "1"},
		} {
			t.Run(tc.name, func(t *testing.T) {
				s := cachetest.StartServers(t, "redis-sentinel")
				for _, n := range s.Nodes {
					if n.Role != "sentinel" {
						setConfig(t, s, n, "min-replicas-max-lag", "2")
						setConfig(t, s, n, "min-replicas-to-write", tc.replicas)
					}
				}
				old := master(t, s)
				m := openServers(t, s.URL)
				// an application without a connection to the sentinels continues to use
				// the old master
				isolated := openServers(t, (&url.URL{
					Scheme: "redis",
					User:   url.UserPassword("", s.Password), Host: old.Address,
				}).String())
				w := startWrites(m, 4, deadline, plainName)
				sleep(time.Second)
				if err := s.Pause(old.Name); err != nil {
					t.Fatal(err)
				}
				paused := time.Now()
				recovered := w.allSucceeded(paused, failover)
				sleep(500 * time.Millisecond)
				if err := s.Continue(old.Name); err != nil {
					t.Fatal(err)
				}
				stale := startWrites(isolated, 2, deadline,
					func(worker, i int) string { return "old:" + plainName(worker, i) })
				sleep(time.Second)
				stale.end()
				w.end()
				if !recovered {
					t.Fatalf("no new master %s after the pause: %v", failover, w.problem)
				}
				w.wantBounded(t)
				lost := w.lost(t, m)
				wantRecentLosses(t, lost, paused)
				s.Note("master paused, %s: %s; %d of %d acknowledged writes lost; "+
					"the old master acknowledged %d writes after the pause, %d of them lost",
					tc.name, w, len(lost), len(w.acked), len(stale.acked), len(stale.lost(t, m)))
			})
		}
	})
}

// setConfig changes a setting of a node.
func setConfig(t *testing.T, s *cachetest.Servers, n cachetest.Node, name, value string) {
	t.Helper()
	if err := direct(t, s, n).ConfigSet(t.Context(), name, value).Err(); err != nil {
		t.Fatal(err)
	}
}
