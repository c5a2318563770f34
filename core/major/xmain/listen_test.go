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

// storm connects again and again from eight goroutines until one of them is refused, and returns how many connections were
// answered by echo, and the errors of those that were lost.
func storm(t *testing.T, addr string) (answered int, lost []error) {
	t.Helper()
	var (
		clients sync.WaitGroup
		count   atomic.Int64
		mu      sync.Mutex
	)
	for range 8 {
		clients.Go(func() {
			for {
				err := ask(t.Context(), addr)
				var late net.Error
				if errors.Is(err, syscall.ECONNREFUSED) || errors.As(err, &late) && late.Timeout() {
					return // the kernel refuses it, or ignores it until it is refused
				}
				if err != nil {
					mu.Lock()
					defer mu.Unlock()
					lost = append(lost, err)
					return
				}
				count.Add(1)
			}
		})
	}
	clients.Wait()
	return int(count.Load()), lost
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

func TestNoConnectionIsLostWhenNewOnesAreRefused(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("elsewhere the kernel resets what waits in the queue of a listener that is closed")
	}
	answered := 0
	for range 60 {
		l, refuse, err := xmain.Listen(t.Context(), "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		go echo(l)
		time.AfterFunc(rand.N(4*time.Millisecond), func() { refuse(t.Context()) })
		n, lost := storm(t, l.Addr().String())
		if answered += n; len(lost) > 0 {
			t.Errorf("%d connections were lost: %v", len(lost), lost[0])
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if answered < 60 {
		t.Errorf("%d connections were answered", answered)
	}
}
