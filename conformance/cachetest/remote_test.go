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
	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// remote simulates a store on a server. Its calls first send a request to an echo server.
// The embedded store contains the values.
type remote struct {
	*broken

	address string
	pool    chan net.Conn
	closed  atomic.Bool
	trips   atomic.Int64
}

const (
	poolSize = 4
	// respondsWithin is the timeout of calls without a deadline.
	respondsWithin = time.Second
)

// remoteDriver opens remote stores.
type remoteDriver struct{ brokenDriver }

// Name implements driver.Driver.
func (remoteDriver) Name() string { return "remote" }

// InterfaceVersion implements driver.Versioned.
func (remoteDriver) InterfaceVersion() int { return 1 }

// Open implements driver.Driver.
func (remoteDriver) Open(ctx context.Context, c driver.Config) (driver.Store, error) {
	if *defectFlag == noopDefect {
		return noopStore{}, nil
	}
	r := &remote{
		broken:  newBroken(c),
		address: net.JoinHostPort(c.Host, strconv.Itoa(c.Port)),
		pool:    make(chan net.Conn, poolSize),
	}
	for range poolSize {
		r.pool <- nil // a connection that is not open
	}
	return r, r.Ping(ctx)
}

// trip simulates the request of a call.
func (r *remote) trip(ctx context.Context) error {
	if r.closed.Load() {
		return driver.ErrClosed
	}
	if r.outage != nil {
		return r.outage(ctx, r)
	}
	return r.roundTrip(ctx)
}

// roundTrip sends one byte to the server and waits for the reply.
func (r *remote) roundTrip(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, respondsWithin)
	defer cancel()
	var conn net.Conn
	select {
	case conn = <-r.pool:
	case <-limited.Done():
		return storeError(ctx, errors.New("no free connection"))
	}
	conn, err := r.exchange(limited, conn)
	if err != nil && conn != nil {
		_ = conn.Close()
		conn = nil
	}
	r.pool <- conn
	return storeError(ctx, err)
}

// exchange uses conn, or a new connection if conn is nil.
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
		err = os.ErrDeadlineExceeded // the connection cannot be reused
	}
	return conn, err
}

// storeError converts a network error to the error of a store: the error of ctx if ctx
// has ended, otherwise driver.ErrUnavailable.
func storeError(ctx context.Context, err error) error {
	deadline, limited := ctx.Deadline()
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case limited && time.Until(deadline) < time.Millisecond:
		// The connection may reach the deadline slightly earlier.
		return context.DeadlineExceeded
	default:
		// Do not wrap err: errors of package net match context errors.
		return fmt.Errorf("%w: no server: %s", driver.ErrUnavailable, err.Error())
	}
}

// roundTrips implements Harness.RoundTrips.
func roundTrips(store driver.Store, run func()) int {
	r, ok := store.(*remote)
	if !ok {
		return 0
	}
	before := r.trips.Load()
	run()
	return int(r.trips.Load() - before)
}

// remoteHarness returns the harness of remote stores with an echo server.
func remoteHarness(t *testing.T) cachetest.Harness {
	t.Helper()
	c := echo(t)
	return cachetest.Harness{
		Driver:      remoteDriver{},
		Config:      func(testing.TB) driver.Config { return c },
		Outage:      func(tb testing.TB) cachetest.Outage { return cachetest.CutOff(tb, c) },
		FailsWithin: 2 * respondsWithin,
		RoundTrips:  roundTrips,
	}
}

// echo starts an echo server and returns its settings.
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
