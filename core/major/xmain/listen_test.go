package xmain_test

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/plinthgo/plinth/core/major/xmain"
)

// clients counts successful connections and collects errors.
type clients struct {
	served atomic.Int64
	mu     sync.Mutex
	lost   []error
}

// connect opens a connection and reports whether the server responded.
func (c *clients) connect(ctx context.Context, addr string) bool {
	err := ping(ctx, addr)
	var netErr net.Error
	switch {
	case err == nil:
		c.served.Add(1)
		return true
	case errors.Is(err, syscall.ECONNREFUSED), errors.As(err, &netErr) && netErr.Timeout():
		return false // connection refused, or packets dropped
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lost = append(c.lost, err)
	return false
}

// connectRepeatedly connects from eight goroutines until each of them is refused.
func (c *clients) connectRepeatedly(ctx context.Context, addr string) {
	var running sync.WaitGroup
	for range 8 {
		running.Go(func() {
			for c.connect(ctx, addr) {
				continue
			}
		})
	}
	running.Wait()
}

// connectContinuously opens a connection every millisecond until one is refused.
func (c *clients) connectContinuously(ctx context.Context, addr string) {
	var running sync.WaitGroup
	var refused atomic.Bool
	pause := time.NewTicker(time.Millisecond)
	defer pause.Stop()
	for !refused.Load() {
		running.Go(func() {
			if !c.connect(ctx, addr) {
				refused.Store(true)
			}
		})
		<-pause.C
	}
	running.Wait()
}

// ping sends a byte on a new connection and reads it back.
func ping(ctx context.Context, addr string) error {
	c, err := (&net.Dialer{Timeout: 100 * time.Millisecond}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	if _, err := io.WriteString(c, "x"); err != nil {
		return err
	}
	_, err = io.ReadFull(c, make([]byte, 1))
	return err
}

// echo serves connections until the listener is closed.
func echo(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			_, _ = io.CopyN(c, c, 1)
			_ = c.Close()
		}()
	}
}

func TestListener_StopAccepting_BusyClients(t *testing.T) {
	testStopAccepting(t, (*clients).connectRepeatedly)
}

func TestListener_StopAccepting_NewClients(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("other kernels reset connections that arrive during Close")
	}
	testStopAccepting(t, (*clients).connectContinuously)
}

// testStopAccepting closes a listener under load. No accepted connection may be lost.
func testStopAccepting(t *testing.T, load func(*clients, context.Context, string)) {
	t.Helper()
	if testing.Short() {
		t.Skip("opens many connections")
	}
	t.Parallel()
	c := &clients{}
	for range 60 {
		l, stopAccepting, err := xmain.Listen(t.Context(), "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		go echo(l)
		time.AfterFunc(rand.N(4*time.Millisecond), func() { stopAccepting(t.Context()) })
		load(c, t.Context(), l.Addr().String())
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if len(c.lost) > 0 {
		t.Errorf("%d connections were lost: %v", len(c.lost), c.lost[0])
	}
	if c.served.Load() < 60 {
		t.Errorf("%d connections were served, want at least 60", c.served.Load())
	}
}
