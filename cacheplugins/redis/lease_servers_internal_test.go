package redis

import (
	"context"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/plinthgo/plinth/conformance/cachetest"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// testURL is the variable with the URL of the shared test server.
const testURL xenv.EnvKey = "PLINTH_TEST_REDIS_URL"

func serverURL(tb testing.TB) string {
	tb.Helper()
	address, ok := xenv.GetEnv(testURL)
	if !ok {
		tb.Skip(testURL.String() + " is not set")
	}
	return address
}

// node returns the name of the node with an address.
func node(tb testing.TB, s *cachetest.Servers, address string) string {
	tb.Helper()
	for _, n := range s.Nodes {
		if n.Address == address {
			return n.Name
		}
	}
	tb.Fatalf("no node has the address %s", address)
	return ""
}

// must fails the test if err is not nil.
func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// openStore returns a store for a URL. After the test it closes the store and checks that
// no watch connection remains.
func openStore(tb testing.TB, address string) *store {
	tb.Helper()
	opened, err := Driver{}.Open(context.Background(), driver.Config{URL: address})
	must(tb, err)
	s, ok := opened.(*store)
	if !ok {
		tb.Fatalf("the store is a %T", opened)
	}
	var open atomic.Int32
	dial := s.options.Dialer
	s.options.Dialer = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		open.Add(1)
		return &countedConn{Conn: conn, closed: sync.OnceFunc(func() { open.Add(-1) })}, nil
	}
	tb.Cleanup(func() {
		must(tb, s.Close())
		if n := open.Load(); n != 0 {
			tb.Errorf("%d watch connections remain", n)
		}
	})
	return s
}

type countedConn struct {
	net.Conn
	closed func()
}

func (c *countedConn) Close() error {
	c.closed()
	return c.Conn.Close()
}

// asUser returns the URL for another user.
func asUser(tb testing.TB, address, user string) string {
	tb.Helper()
	u, err := url.Parse(address)
	must(tb, err)
	u.User = url.UserPassword(user, "secret")
	return u.String()
}
