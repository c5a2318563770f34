package leasetest_test

import (
	"context"
	"net"
	"net/rpc"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/plinthgo/plinth/core/common/xlease/driver"
)

// service serves a backend to other processes.
type service struct{ b driver.Backend }

// Acquire calls driver.Backend.Acquire.
func (s service) Acquire(r driver.Request, g *driver.Grant) (err error) {
	*g, err = s.b.Acquire(context.Background(), r)
	return err
}

// Renew calls driver.Backend.Renew.
func (s service) Renew(h driver.Holding, held *bool) (err error) {
	*held, err = s.b.Renew(context.Background(), h)
	return err
}

// Release calls driver.Backend.Release.
func (s service) Release(h driver.Holding, held *bool) (err error) {
	*held, err = s.b.Release(context.Background(), h)
	return err
}

// Capabilities calls driver.Backend.Capabilities.
func (s service) Capabilities(_ struct{}, t *driver.Capabilities) error {
	*t = s.b.Capabilities()
	return nil
}

// serve serves b on a Unix socket until the test completes.
func serve(tb testing.TB, b driver.Backend) (address string) {
	tb.Helper()
	dir, err := os.MkdirTemp("", "lease") //nolint:usetesting // the path of a socket is limited
	if err != nil {
		tb.Fatal(err)
	}
	address = filepath.Join(dir, "s")
	listener, err := (&net.ListenConfig{}).Listen(tb.Context(), "unix", address)
	if err != nil {
		tb.Fatal(err)
	}
	server := rpc.NewServer()
	if err := server.RegisterName("lease", service{b}); err != nil {
		tb.Fatal(err)
	}
	var conns sync.WaitGroup
	conns.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			conns.Go(func() { server.ServeConn(conn) })
		}
	})
	tb.Cleanup(func() {
		_ = listener.Close()
		conns.Wait()
		_ = os.RemoveAll(dir)
	})
	return address
}

// client is a backend in another process.
type client struct {
	rpc          *rpc.Client
	capabilities driver.Capabilities
}

// dial connects to the socket of serve.
func dial(address string) (b driver.Backend, done func(), err error) {
	c := &client{}
	if c.rpc, err = rpc.Dial("unix", address); err != nil {
		return nil, nil, err
	}
	done = func() { _ = c.rpc.Close() }
	return c, done, c.call(context.Background(), "Capabilities", struct{}{}, &c.capabilities)
}

func (c *client) call(ctx context.Context, method string, args, reply any) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	call := c.rpc.Go("lease."+method, args, reply, make(chan *rpc.Call, 1))
	select {
	case <-call.Done:
		return call.Error
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Acquire implements driver.Backend.
func (c *client) Acquire(ctx context.Context, r driver.Request) (driver.Grant, error) {
	g := new(driver.Grant)
	if err := c.call(ctx, "Acquire", r, g); err != nil {
		return driver.Grant{}, err
	}
	return *g, nil
}

// Renew implements driver.Backend.
func (c *client) Renew(ctx context.Context, h driver.Holding) (bool, error) {
	held := new(bool)
	if err := c.call(ctx, "Renew", h, held); err != nil {
		return false, err
	}
	return *held, nil
}

// Release implements driver.Backend.
func (c *client) Release(ctx context.Context, h driver.Holding) (bool, error) {
	held := new(bool)
	if err := c.call(ctx, "Release", h, held); err != nil {
		return false, err
	}
	return *held, nil
}

// Capabilities implements driver.Backend.
func (c *client) Capabilities() driver.Capabilities { return c.capabilities }
