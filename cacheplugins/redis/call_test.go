package redis_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/plinthgo/plinth/cacheplugins/redis"
	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// open opens a store and closes it after the test.
func open(tb testing.TB, c driver.Config) driver.Store {
	tb.Helper()
	s, err := redis.Driver{}.Open(tb.Context(), c)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Errorf("Close = %v", err)
		}
	})
	return s
}

// everyCall returns one call of each kind: a command, a script and a batch.
func everyCall(s driver.Store) map[string]func(ctx context.Context) error {
	return map[string]func(ctx context.Context) error{
		"Get": func(ctx context.Context) error {
			_, _, err := s.Get(ctx, "call:k")
			return err
		},
		"Set": func(ctx context.Context) error {
			// larger than the socket buffers
			_, err := s.Set(ctx, "call:k", make([]byte, 24<<20), driver.Write{TTL: time.Minute})
			return err
		},
		"SetAdd": func(ctx context.Context) error {
			_, _, err := s.SetAdd(ctx, "call:s", [][]byte{{1}}, driver.Write{TTL: time.Minute})
			return err
		},
		"GetMany": func(ctx context.Context) error {
			_, err := s.(driver.Batcher).GetMany(ctx, []string{"call:k", "call:l"})
			return err
		},
		"SetMany": func(ctx context.Context) error {
			return s.(driver.Batcher).SetMany(ctx,
				[]driver.Item{{Key: "call:m", Write: driver.Write{TTL: time.Minute}}})
		},
		"Scan": func(ctx context.Context) error {
			return s.(driver.Scanner).Scan(ctx, "call:none", func([]string) bool { return true })
		},
		"Ping": s.Ping,
	}
}

// maxDelay is the maximum delay of a canceled call on a busy machine. A call that ignores
// its context fails after 5 s.
const maxDelay = 4 * time.Second

func TestCall_Deadline(t *testing.T) {
	t.Run("returns at the deadline", func(t *testing.T) {
		address, _ := server(t)
		for name := range everyCall(unused{}) {
			t.Run(name, func(t *testing.T) {
				r, relayURL := newRelay(t, address)
				s := open(t, driver.Config{URL: relayURL})
				r.pause()
				const limit = 100 * time.Millisecond
				ctx, cancel := context.WithTimeout(t.Context(), limit)
				defer cancel()
				start := time.Now()
				err := everyCall(s)[name](ctx)
				if elapsed := time.Since(start); !errors.Is(err, context.DeadlineExceeded) ||
					elapsed < limit/2 || elapsed > limit+maxDelay {
					t.Errorf("call = %v after %s, want the context's error after %s",
						err, elapsed, limit)
				}
				r.resume()
				if err := everyCall(s)[name](t.Context()); err != nil {
					t.Errorf("next call: %v", err)
				}
			})
		}
	})

	t.Run("limits a far deadline", func(t *testing.T) {
		address, _ := server(t)
		s := open(t, driver.Config{URL: address})
		for name, at := range map[string]time.Time{
			"an hour":       time.Now().Add(time.Hour),
			"a Duration":    time.Now().Add(math.MaxInt64),
			"the last year": time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC),
		} {
			ctx, cancel := context.WithDeadline(t.Context(), at)
			for call, run := range everyCall(s) {
				if err := run(ctx); err != nil {
					t.Errorf("%s until %s: %v", call, name, err)
				}
			}
			cancel()
		}
	})

	t.Run("returns without a deadline", func(t *testing.T) {
		if testing.Short() {
			t.Skip("slow: 5 s timeout")
		}
		address, _ := server(t)
		r, relayURL := newRelay(t, address)
		s := open(t, driver.Config{URL: relayURL})
		r.pause()
		start := time.Now()
		_, _, err := s.Get(context.Background(), "call:k")
		elapsed := time.Since(start)
		if err == nil || elapsed > 5*time.Second+maxDelay {
			t.Fatalf("Get = %v after %s, want an error after 5 s", err, elapsed)
		}
		if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) ||
			!strings.Contains(err.Error(), "timeout") {
			t.Errorf("Get = %v, want an error that is not a context error", err)
		}
	})
}

func TestCall_Cancellation(t *testing.T) {
	t.Run("aborts the call", func(t *testing.T) {
		address, _ := server(t)
		for name := range everyCall(unused{}) {
			t.Run(name, func(t *testing.T) {
				r, relayURL := newRelay(t, address)
				s := open(t, driver.Config{URL: relayURL})
				r.pause()
				ctx, cancel := context.WithCancel(t.Context())
				timer := time.AfterFunc(100*time.Millisecond, cancel)
				defer timer.Stop()
				start := time.Now()
				err := everyCall(s)[name](ctx)
				if elapsed := time.Since(start); !errors.Is(err, context.Canceled) ||
					elapsed > 100*time.Millisecond+maxDelay {
					t.Errorf("call = %v after %s, want the context's error after 100 ms",
						err, elapsed)
				}
				r.resume()
				if err := everyCall(s)[name](t.Context()); err != nil {
					t.Errorf("next call: %v", err)
				}
			})
		}
	})

	t.Run("aborts the call during a reply", func(t *testing.T) {
		f := newFake(t, func(f *fake, words []string) string {
			if words[0] == "get" {
				return "$100\r\nabc" + pause + "def" + pause + "ghi" + pause
			}
			return oldServer(f, words)
		})
		s := open(t, driver.Config{Host: f.address()})
		ctx, cancel := context.WithCancel(t.Context())
		timer := time.AfterFunc(6*pauses, cancel)
		defer timer.Stop()
		start := time.Now()
		if _, _, err := s.Get(ctx, "k"); !errors.Is(err, context.Canceled) ||
			time.Since(start) > 6*pauses+maxDelay {
			t.Errorf("Get = %v after %s, want the context's error after %s",
				err, time.Since(start), 6*pauses)
		}
	})
}

// A reply may arrive in several delayed parts.
func TestCall_SlowReply(t *testing.T) {
	address, _ := server(t)
	r, relayURL := newRelay(t, address)
	s := open(t, driver.Config{URL: relayURL})
	value := []byte(strings.Repeat("v", 3<<20))
	if _, err := s.Set(t.Context(), "call:slow",
		value, driver.Write{TTL: time.Minute}); err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		tick := time.NewTicker(15 * time.Millisecond)
		defer tick.Stop()
		for {
			r.pause()
			select {
			case <-tick.C:
				r.resume()
			case <-stop:
				return
			}
		}
	}()
	got, ok, err := s.Get(t.Context(), "call:slow")
	if err != nil || !ok || string(got) != string(value) {
		t.Errorf("Get = %d bytes, %t, %v; want the value", len(got), ok, err)
	}
}

// unused is a store for calls that are not executed.
type unused struct{ driver.Store }

// Ping implements driver.Store.
func (unused) Ping(context.Context) error { return nil }
