package redis

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/plinthgo/plinth/conformance/cachetest"
	leasedriver "github.com/plinthgo/plinth/core/common/xlease/driver"
	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

func TestLeases_Permissions(t *testing.T) {
	s := openStore(t, serverURL(t))
	prefix := leasePrefix(t, s)
	asLimitedUser := func(rights string) leasedriver.Backend {
		name := "user-" + rand.Text()
		rules := []any{"acl", "setuser", name, "on", ">secret", "~" + prefix + "*", "+ping"}
		for right := range strings.FieldsSeq(rights) {
			rules = append(rules, right)
		}
		if err := s.client.Do(t.Context(), rules...).Err(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.client.Do(context.Background(), "acl", "deluser", name).Err() })
		return openStore(t, asUser(t, serverURL(t), name)).LeaseBackend(prefix)
	}
	b := asLimitedUser(leaseRights)
	r := request("limited", time.Minute)
	h := holding(r, acquire(t, b, r))
	ok, err := b.Renew(t.Context(), h)
	wantResult(t, "Renew", ok, err, true)
	ok, err = b.Release(t.Context(), h)
	wantResult(t, "Release", ok, err, true)
	for _, missing := range []string{"+evalsha", "+info", "+hset"} {
		b := asLimitedUser(strings.Replace(leaseRights+" ", missing+" ", "", 1))
		if _, err := b.Acquire(t.Context(), r); !errors.Is(err, driver.ErrConfig) ||
			!strings.Contains(err.Error(), missing) {
			t.Errorf("without %s: %v, want an error that names it", missing, err)
		}
	}
}

// A server that restarts from a snapshot may have lost later records.
func TestLeases_ServerRestart(t *testing.T) {
	servers := cachetest.StartServers(t, "redis")
	s := openStore(t, servers.URL)
	b := s.LeaseBackend("records:")
	r := request("numbers", time.Minute)
	r.Count = 8
	acquire(t, b, r)
	if g := acquire(t, b, withNewHolder(r)); g.Age == 0 {
		t.Error("age = 0, want a positive age")
	}
	if err := s.client.Save(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	must(t, servers.Kill(""))
	must(t, servers.Start(""))
	eventually(t, 10*time.Second, func() error { return s.Ping(t.Context()) })
	if n := s.client.Exists(t.Context(), "records:numbers").Val(); n != 1 {
		t.Fatal("the server did not load its snapshot: the test is inconclusive")
	}
	if g := acquire(t, b, withNewHolder(r)); g.Age != 0 {
		t.Errorf("age = %s after a restart, want 0", g.Age)
	}
}

// withNewHolder returns r with a new holder.
func withNewHolder(r leasedriver.Request) leasedriver.Request {
	r.Holder = rand.Text()
	return r
}
