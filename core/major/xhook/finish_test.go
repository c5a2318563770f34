package xhook_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plinthgo/plinth/core/major/xhook"
)

func TestFinish(t *testing.T) {
	const never = time.Duration(-1)
	for _, tc := range []struct {
		name                  string
		deadline, timeout     time.Duration // of ctx and of Finish; 0 means unlimited
		duration, afterCancel time.Duration // until the work finishes by itself, and after cancel
		canceled, returned    time.Duration
		want                  error
	}{
		{
			name:     "finishes by itself",
			deadline: time.Minute, duration: time.Second,
			canceled: never, returned: time.Second, want: nil,
		},
		{
			name:     "canceled before the deadline",
			deadline: time.Minute, duration: never, afterCancel: time.Second,
			canceled: 58 * time.Second, returned: 59 * time.Second, want: xhook.ErrForced,
		},
		{
			name:     "canceled at the timeout",
			deadline: time.Minute, timeout: 10 * time.Second, duration: never, afterCancel: 0,
			canceled: 10 * time.Second, returned: 10 * time.Second, want: xhook.ErrForced,
		},
		{
			name:     "abandoned",
			deadline: time.Minute, duration: never, afterCancel: never,
			canceled: 58 * time.Second, returned: 59500 * time.Millisecond,
			want: xhook.ErrAbandoned,
		},
		{
			name:     "abandoned with a short deadline",
			deadline: 800 * time.Millisecond, duration: never, afterCancel: never,
			canceled: 400 * time.Millisecond, returned: 700 * time.Millisecond,
			want: xhook.ErrAbandoned,
		},
		{
			name:    "without a deadline",
			timeout: time.Second, duration: never, afterCancel: never,
			canceled: time.Second, returned: 2 * time.Second, want: xhook.ErrAbandoned,
		},
		{
			name:     "without a deadline and a timeout",
			duration: time.Hour, canceled: never, returned: time.Hour, want: nil,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx := t.Context()
				if tc.deadline > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, tc.deadline)
					defer cancel()
				}
				start, canceled := time.Now(), never
				done := make(chan struct{})
				if tc.duration != never {
					time.AfterFunc(tc.duration, func() { close(done) })
				}
				got := xhook.Finish(ctx, tc.timeout, done, func() {
					canceled = time.Since(start)
					if tc.afterCancel != never {
						time.AfterFunc(tc.afterCancel, func() { close(done) })
					}
				})
				returned := time.Since(start)
				if !errors.Is(got, tc.want) || canceled != tc.canceled || returned != tc.returned {
					t.Errorf("Finish = %v after %s, canceled after %s; "+
						"want %v after %s, canceled after %s",
						got, returned, canceled, tc.want, tc.returned, tc.canceled)
				}
			})
		})
	}
}
