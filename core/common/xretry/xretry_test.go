package xretry_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plinthgo/plinth/core/common/xretry"
)

func TestSleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		if err := xretry.Sleep(t.Context(), time.Hour); err != nil ||
			time.Since(start) != time.Hour {
			t.Errorf("Sleep = %v after %s, want nil after an hour", err, time.Since(start))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		start = time.Now()
		if err := xretry.Sleep(ctx, time.Hour); !errors.Is(err, context.DeadlineExceeded) ||
			time.Since(start) != time.Minute {
			t.Errorf("Sleep = %v after %s, want DeadlineExceeded after a minute",
				err, time.Since(start))
		}
	})
}

func TestBackoff_Next(t *testing.T) {
	b := xretry.Backoff{First: 100 * time.Millisecond, Max: 350 * time.Millisecond}
	for round := range 100 {
		for i, ms := range []int{100, 200, 350, 350} {
			delay := time.Duration(ms) * time.Millisecond
			if got := b.Next(); got < delay/2 || got > delay {
				t.Errorf("round %d: delay %d = %s, want %s to %s", round, i, got, delay/2, delay)
			}
		}
		b.Reset()
	}
}
