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

// clients counts what becomes of connections.
type clients struct {
	answered atomic.Int64
	mu       sync.Mutex
	lost     []error
}

// ask sends a line over a connection of its own. It reports false if that was refused or
// lost.
func (c *clients) ask(ctx context.Context, addr string) bool {
	err := ask(ctx, addr)
	var late net.Error
	switch {
	case err == nil:
		c.answered.Add(1)
		return true
	case errors.Is(err, syscall.ECONNREFUSED), errors.As(err, &late) && late.Timeout():
		return false // the kernel refuses it, or ignores it until it is refused
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lost = append(c.lost, err)
	return false
}

// storm connects again and again from eight goroutines until one of them is refused.
func (c *clients) storm(ctx context.Context, addr string) {
	var running sync.WaitGroup
	for range 8 {
		running.Go(func() {
			for c.ask(ctx, addr) {
				continue
			}
		})
	}
	running.Wait()
}

// arrive connects new clients all the time, whatever becomes of the others, until one is
// refused.
func (c *clients) arrive(ctx context.Context, addr string) {
	var running sync.WaitGroup
	var refused atomic.Bool
	pause := time.NewTicker(time.Millisecond)
	defer pause.Stop()
	for !refused.Load() {
		running.Go(func() {
			if !c.ask(ctx, addr) {
				refused.Store(true)
			}
		})
		<-pause.C
	}
	running.Wait()
}

// ask sends a line over a connection of its own and wants it back.
func ask(ctx context.Context, addr string) error {
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

// echo sends back what comes over each connection, until the listener is closed.
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

func TestListener_RefuseUnderBusyClients(t *testing.T) {
	refuseUnderLoad(t, (*clients).storm)
}

func TestListener_RefuseUnderNewClients(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("elsewhere the kernel resets the connections that arrive at the moment of the close")
	}
	refuseUnderLoad(t, (*clients).arrive)
}

// refuseUnderLoad lets a listener refuse new connections under a load. None may be lost.
func refuseUnderLoad(t *testing.T, load func(*clients, context.Context, string)) {
	t.Helper()
	if testing.Short() {
		t.Skip("opens many connections")
	}
	t.Parallel()
	c := &clients{}
	for range 60 {
		l, refuse, err := xmain.Listen(t.Context(), "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		go echo(l)
		time.AfterFunc(rand.N(4*time.Millisecond), func() { refuse(t.Context()) })
		load(c, t.Context(), l.Addr().String())
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if len(c.lost) > 0 {
		t.Errorf("%d connections were lost: %v", len(c.lost), c.lost[0])
	}
	if c.answered.Load() < 60 {
		t.Errorf("%d connections were answered", c.answered.Load())
	}
}
