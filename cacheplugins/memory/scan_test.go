package memory_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// scan returns the keys of a scan, sorted.
func scan(tb testing.TB, s driver.Store, prefix string) (keys []string) {
	tb.Helper()
	err := s.(driver.Scanner).Scan(tb.Context(), prefix, func(page []string) bool {
		keys = append(keys, page...)
		return true
	})
	if err != nil {
		tb.Fatal(err)
	}
	slices.Sort(keys)
	return keys
}

func TestStore_Scan(t *testing.T) {
	t.Run("finds live keys of every kind", func(t *testing.T) {
		s, clock := openBounded(t, 10_000)
		var want []string
		for i := range 1000 {
			key := fmt.Sprintf("a:%03d", i)
			set(t, s, key, driver.Write{})
			want = append(want, key)
		}
		set(t, s, "a:expired", driver.Write{TTL: time.Second})
		set(t, s, "b:0", driver.Write{})
		if _, _, err := s.SetAdd(t.Context(), "a:set",
			[][]byte{{1}}, driver.Write{TTL: time.Hour}); err != nil {
			t.Fatal(err)
		}
		clock.advance(time.Minute)
		if got := scan(t, s, "a:"); !slices.Equal(got, append(want, "a:set")) {
			t.Errorf("%d keys, want %d live keys", len(got), len(want)+1)
		}
		if got := scan(t, s, ""); len(got) != 1002 {
			t.Errorf("%d keys without a prefix, want 1002", len(got))
		}
	})

	// The scan iterates over the table of a full cache bucket by bucket, while other
	// goroutines rewrite and evict the same keys.
	t.Run("finds keys that are rewritten concurrently", func(t *testing.T) {
		s := openStore(t, entries(20_000))
		for i := range 10_000 {
			set(t, s, "k:"+strconv.Itoa(i), driver.Write{})
		}
		stop, stopped := make(chan struct{}), make(chan error, 1)
		go func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					stopped <- nil
					return
				default:
				}
				if _, err := s.Set(t.Context(), "k:"+strconv.Itoa(i%10_000), []byte("v"),
					driver.Write{TTL: time.Hour}); err != nil {
					stopped <- err
					return
				}
			}
		}()
		for range 5 {
			if got := slices.Compact(scan(t, s, "k:")); len(got) != 10_000 {
				t.Errorf("%d keys, want 10000", len(got))
			}
		}
		close(stop)
		if err := <-stopped; err != nil {
			t.Error(err)
		}
	})

	t.Run("stops with its context if no key matches", func(t *testing.T) {
		s := openStore(t, entries(20_000))
		for i := range 10_000 {
			set(t, s, strconv.Itoa(i), driver.Write{})
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		err := s.(driver.Scanner).Scan(ctx, "none", func([]string) bool { return true })
		if !errors.Is(err, context.Canceled) {
			t.Errorf("Scan = %v, want the context's error", err)
		}
	})
}
