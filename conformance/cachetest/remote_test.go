package cachetest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/plinthgo/plinth/conformance/cachetest"
	leasedriver "github.com/plinthgo/plinth/core/common/xlease/driver"
	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// remote is a broken store, or a right one, each call of which asks a server first: a
// double of a store on a server. The values themselves are in the process.
type remote struct {
	*broken

	address string
	pool    chan net.Conn
	closed  atomic.Bool
	trips   atomic.Int64
}

const (
	poolSize = 4
	// answersWithin is how long a remote store waits for an answer without a deadline.
	answersWithin = time.Second
)

// remoteDriver opens remote stores.
type remoteDriver struct{ brokenDriver }

// Name implements driver.Driver.
func (remoteDriver) Name() string { return "remote" }

// InterfaceVersion implements driver.Versioned.
func (remoteDriver) InterfaceVersion() int { return 1 }

// Open implements driver.Driver.
func (remoteDriver) Open(ctx context.Context, c driver.Config) (driver.Store, error) {
	if *defectFlag == nothingAtAll {
		return nothing{}, nil
	}
	r := &remote{
		broken: newBroken(c), address: net.JoinHostPort(c.Host, strconv.Itoa(c.Port)),
		pool: make(chan net.Conn, poolSize),
	}
	for range poolSize {
		r.pool <- nil // room for a connection
	}
	return r, r.Ping(ctx)
}

// trip sends one byte to the server and waits for it.
func (r *remote) trip(ctx context.Context) error {
	if r.closed.Load() {
		return driver.ErrClosed
	}
	if r.outage != nil {
		return r.outage(ctx, r)
	}
	return r.ask(ctx)
}

func (r *remote) ask(ctx context.Context) error {
	own, cancel := context.WithTimeout(ctx, answersWithin)
	defer cancel()
	var conn net.Conn
	select {
	case conn = <-r.pool:
	case <-own.Done():
		return plain(ctx, errors.New("no connection is free"))
	}
	conn, err := r.exchange(own, conn)
	if err != nil && conn != nil {
		_ = conn.Close()
		conn = nil
	}
	r.pool <- conn
	return plain(ctx, err)
}

// exchange uses a connection, or makes one.
func (r *remote) exchange(ctx context.Context, conn net.Conn) (net.Conn, error) {
	if conn == nil {
		var err error
		if conn, err = (&net.Dialer{}).DialContext(ctx, "tcp", r.address); err != nil {
			return nil, err
		}
	}
	r.trips.Add(1)
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	_, err := conn.Write([]byte{1})
	if err == nil {
		_, err = io.ReadFull(conn, make([]byte, 1))
	}
	if !stop() && err == nil {
		err = os.ErrDeadlineExceeded // the connection is of no use any more
	}
	return conn, err
}

// plain is the context's error where it has ended, and else one that is no context's.
func plain(ctx context.Context, err error) error {
	at, limited := ctx.Deadline()
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case limited && time.Until(at) < time.Millisecond: // a connection has seen it a little earlier
		return context.DeadlineExceeded
	default:
		// net's own pass for those of a context
		return fmt.Errorf("%w: no server: %s", driver.ErrUnavailable, err.Error())
	}
}

// roundTrips is the harness's hook.
func roundTrips(store driver.Store, run func()) int {
	r, ok := store.(*remote)
	if !ok {
		return 0
	}
	before := r.trips.Load()
	run()
	return int(r.trips.Load() - before)
}

// remoteHarness is that of remote stores whose server is the address.
func remoteHarness(t *testing.T) cachetest.Harness {
	t.Helper()
	c := echo(t)
	return cachetest.Harness{
		Driver:      remoteDriver{},
		Config:      func(testing.TB) driver.Config { return c },
		Outage:      func(tb testing.TB) cachetest.Outage { return cachetest.CutOff(tb, c) },
		FailsWithin: 2 * answersWithin,
		RoundTrips:  roundTrips,
	}
}

// echo is a server that sends back what it gets.
func echo(t *testing.T) driver.Config {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				_, _ = io.Copy(conn, conn)
				_ = conn.Close()
			}()
		}
	}()
	host, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	number, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	return driver.Config{Host: host, Port: number}
}

func (r *remote) Ping(ctx context.Context) error { return r.trip(ctx) }

func (r *remote) Close() error {
	if r.closed.Swap(true) {
		return nil
	}
	for range poolSize {
		if conn := <-r.pool; conn != nil {
			_ = conn.Close()
		}
	}
	return nil
}

func (r *remote) Get(ctx context.Context, key string) (value []byte, ok bool, err error) {
	if err = r.trip(ctx); err == nil {
		return r.broken.Get(ctx, key)
	}
	return
}

func (r *remote) Set(
	ctx context.Context, key string, value []byte, w driver.Write,
) (stored bool, err error) {
	if err = r.trip(ctx); err == nil {
		return r.broken.Set(ctx, key, value, w)
	}
	return
}

func (r *remote) Delete(ctx context.Context, keys ...string) (removed int, err error) {
	if err = r.trip(ctx); err == nil {
		return r.broken.Delete(ctx, keys...)
	}
	return
}

func (r *remote) Exists(ctx context.Context, key string) (ok bool, err error) {
	if err = r.trip(ctx); err == nil {
		return r.broken.Exists(ctx, key)
	}
	return
}

func (r *remote) TTL(ctx context.Context, key string) (ttl time.Duration, ok bool, err error) {
	if err = r.trip(ctx); err == nil {
		return r.broken.TTL(ctx, key)
	}
	return
}

func (r *remote) HashGet(
	ctx context.Context, key, field string,
) (value []byte, ok bool, err error) {
	if err = r.trip(ctx); err == nil {
		return r.broken.HashGet(ctx, key, field)
	}
	return
}

func (r *remote) HashGetAll(ctx context.Context, key string) (fields []driver.Field, err error) {
	if err = r.trip(ctx); err == nil {
		return r.broken.HashGetAll(ctx, key)
	}
	return
}

func (r *remote) HashSet(
	ctx context.Context, key string, set []driver.Field, remove []string, w driver.Write,
) (stored bool, err error) {
	if r.twice {
		_ = r.trip(ctx)
	}
	if err = r.trip(ctx); err == nil {
		return r.broken.HashSet(ctx, key, set, remove, w)
	}
	return
}

func (r *remote) HashExists(ctx context.Context, key, field string) (ok bool, err error) {
	if err = r.trip(ctx); err == nil {
		return r.broken.HashExists(ctx, key, field)
	}
	return
}

func (r *remote) HashRemove(
	ctx context.Context, key string, fields ...string,
) (removed int, err error) {
	if err = r.trip(ctx); err == nil {
		return r.broken.HashRemove(ctx, key, fields...)
	}
	return
}

func (r *remote) SetAdd(
	ctx context.Context, key string, members [][]byte, w driver.Write,
) (added int, stored bool, err error) {
	if err = r.trip(ctx); err == nil {
		return r.broken.SetAdd(ctx, key, members, w)
	}
	return
}

func (r *remote) SetMembers(ctx context.Context, key string) (members [][]byte, err error) {
	if err = r.trip(ctx); err == nil {
		return r.broken.SetMembers(ctx, key)
	}
	return
}

func (r *remote) SetContains(ctx context.Context, key string, member []byte) (ok bool, err error) {
	if err = r.trip(ctx); err == nil {
		return r.broken.SetContains(ctx, key, member)
	}
	return
}

func (r *remote) SetCount(ctx context.Context, key string) (n int, err error) {
	if err = r.trip(ctx); err == nil {
		return r.broken.SetCount(ctx, key)
	}
	return
}

func (r *remote) SetRemove(
	ctx context.Context, key string, members ...[]byte,
) (removed int, err error) {
	if err = r.trip(ctx); err == nil {
		return r.broken.SetRemove(ctx, key, members...)
	}
	return
}

func (r *remote) ListPush(
	ctx context.Context, key string, end driver.End, values [][]byte, w driver.Write,
) (length int, stored bool, err error) {
	if err = r.trip(ctx); err == nil {
		return r.broken.ListPush(ctx, key, end, values, w)
	}
	return
}

func (r *remote) ListRange(
	ctx context.Context, key string, start, stop int,
) (out [][]byte, err error) {
	if err = r.trip(ctx); err == nil {
		return r.broken.ListRange(ctx, key, start, stop)
	}
	return
}

func (r *remote) ListIndex(
	ctx context.Context, key string, index int,
) (value []byte, ok bool, err error) {
	if err = r.trip(ctx); err == nil {
		return r.broken.ListIndex(ctx, key, index)
	}
	return
}

func (r *remote) ListLen(ctx context.Context, key string) (n int, err error) {
	if err = r.trip(ctx); err == nil {
		return r.broken.ListLen(ctx, key)
	}
	return
}

func (r *remote) ListPop(
	ctx context.Context, key string, end driver.End,
) (value []byte, ok bool, err error) {
	if err = r.trip(ctx); err == nil {
		return r.broken.ListPop(ctx, key, end)
	}
	return
}

func (r *remote) ListRemove(
	ctx context.Context, key string, count int, value []byte,
) (removed int, err error) {
	if err = r.trip(ctx); err == nil {
		return r.broken.ListRemove(ctx, key, count, value)
	}
	return
}

func (r *remote) GetMany(ctx context.Context, keys []string) (values [][]byte, err error) {
	for i := range keys {
		if i > 0 && r.loops {
			_ = r.trip(ctx)
		}
	}
	if err = r.trip(ctx); err == nil {
		return r.broken.GetMany(ctx, keys)
	}
	return
}

func (r *remote) SetMany(ctx context.Context, items []driver.Item) (err error) {
	if err = r.trip(ctx); err == nil {
		return r.broken.SetMany(ctx, items)
	}
	return
}

func (r *remote) Scan(ctx context.Context, prefix string, page func([]string) bool) (err error) {
	if err = r.trip(ctx); err == nil {
		return r.broken.Scan(ctx, prefix, page)
	}
	return
}

// LeaseBackend implements driver.Leaser. The records are at the server, too.
func (r *remote) LeaseBackend(prefix string) leasedriver.Backend {
	return remoteLeases{r.broken.LeaseBackend(prefix), r}
}

type remoteLeases struct {
	leasedriver.Backend

	r *remote
}

func (l remoteLeases) Acquire(
	ctx context.Context, q leasedriver.Request,
) (g leasedriver.Grant, err error) {
	if err = l.r.trip(ctx); err == nil {
		return l.Backend.Acquire(ctx, q)
	}
	return
}

func (l remoteLeases) Release(ctx context.Context, h leasedriver.Holding) (held bool, err error) {
	if err = l.r.trip(ctx); err == nil {
		return l.Backend.Release(ctx, h)
	}
	return
}
