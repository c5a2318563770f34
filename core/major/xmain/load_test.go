//go:build unix

package xmain_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// load sends requests until new connections are refused.
type load struct {
	url       string
	keepAlive bool

	served        atomic.Int64 // in total
	unready       atomic.Bool  // /readyz has returned 503
	servedUnready atomic.Int64 // served since then

	mu       sync.Mutex
	failures []string
}

func (l *load) fail(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failures = append(l.failures, fmt.Sprintf(format, args...))
}

// client sends requests sequentially.
func (l *load) client(ctx context.Context) {
	client := &http.Client{
		Transport: &http.Transport{DisableKeepAlives: !l.keepAlive},
		Timeout:   testTimeout,
	}
	defer client.CloseIdleConnections()
	for {
		req, _ := http.NewRequestWithContext(ctx, http.MethodPost, l.url+"/work",
			strings.NewReader("{}"))
		req.Method = http.MethodGet
		resp, err := client.Do(req)
		if errors.Is(err, syscall.ECONNREFUSED) {
			return
		}
		if err != nil {
			l.fail("%v", err)
			return
		}
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil || resp.StatusCode != http.StatusOK ||
			!strings.Contains(string(body), `"message":"worked"`) {
			l.fail("%d %s %v", resp.StatusCode, body, err)
			return
		}
		l.served.Add(1)
		if l.unready.Load() {
			l.servedUnready.Add(1)
		}
	}
}

// awaitUnready polls /readyz until it returns 503.
func (l *load) awaitUnready(ctx context.Context) {
	client := &http.Client{
		Transport: &http.Transport{DisableKeepAlives: true},
		Timeout:   testTimeout,
	}
	for {
		req, _ := http.NewRequestWithContext(ctx, http.MethodGet, l.url+"/readyz", http.NoBody)
		resp, err := client.Do(req)
		if err != nil {
			l.fail("/readyz did not return 503: %v", err)
			return
		}
		_ = resp.Body.Close()
		if resp.StatusCode == http.StatusServiceUnavailable {
			l.unready.Store(true)
			return
		}
	}
}

func TestRunner_ShutdownUnderLoad(t *testing.T) {
	for _, keepAlive := range []bool{true, false} {
		t.Run(fmt.Sprintf("keep-alive %t", keepAlive), func(t *testing.T) {
			p := startProgram(t, "serve", "PLINTH_DRAIN_DELAY=700ms")
			ready := p.waitLine("ready")
			l := &load{url: ready["address"].(string), keepAlive: keepAlive}
			var wg sync.WaitGroup
			for range 8 {
				wg.Go(func() { l.client(t.Context()) })
			}
			wg.Go(func() { l.awaitUnready(t.Context()) })
			for l.served.Load() < 100 {
				time.Sleep(time.Millisecond) //nolint:forbidigo // the clients run in other goroutines
			}
			p.signal(syscall.SIGTERM)
			code, elapsed := p.exit()
			wg.Wait()
			if code != 0 {
				t.Errorf("exit code = %d, want 0:\n%s", code, p.output())
			}
			if len(l.failures) > 0 {
				t.Errorf("%d of %d requests failed, the first: %s",
					len(l.failures), l.served.Load(), l.failures[0])
			}
			if !l.unready.Load() || l.servedUnready.Load() == 0 {
				t.Errorf("not ready: %t, served after that: %d; want both",
					l.unready.Load(), l.servedUnready.Load())
			}
			if elapsed < 700*time.Millisecond {
				t.Errorf("the shutdown took %s, want at least the drain delay", elapsed)
			}
			p.checkOrder("stopping", "stop hook", "node closed", "stopped")
			t.Logf("%d requests, %d of them in the drain delay, shutdown took %s",
				l.served.Load(), l.servedUnready.Load(), elapsed)
		})
	}
}
