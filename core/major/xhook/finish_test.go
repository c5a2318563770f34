package xhook_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plinthgo/plinth/core/major/xhook"
)

func TestFinishCutsOffInTimeToSayWhatIsLeft(t *testing.T) {
	const never = time.Duration(-1)
	for _, tc := range []struct {
		name          string
		end, timeout  time.Duration // of the stop; 0 is none
		takes, obeys  time.Duration // until the work ends by itself, and after it is cut off
		cut, returned time.Duration
		want          error
	}{
		{
			name: "ends by itself",
			end:  time.Minute, takes: time.Second, cut: never, returned: time.Second, want: nil,
		},
		{
			name: "cut off before the stop ends", end: time.Minute, takes: never, obeys: time.Second,
			cut: 58 * time.Second, returned: 59 * time.Second, want: xhook.ErrForced,
		},
		{
			name: "cut off at the timeout", end: time.Minute, timeout: 10 * time.Second, takes: never,
			obeys: 0, cut: 10 * time.Second, returned: 10 * time.Second, want: xhook.ErrForced,
		},
		{
			name: "left behind", end: time.Minute, takes: never, obeys: never, cut: 58 * time.Second,
			returned: 59500 * time.Millisecond, want: xhook.ErrAbandoned,
		},
		{
			name: "left behind in a short stop",
			end:  800 * time.Millisecond, takes: never, obeys: never, cut: 400 * time.Millisecond,
			returned: 700 * time.Millisecond, want: xhook.ErrAbandoned,
		},
		{
			name: "without an end", timeout: time.Second, takes: never, obeys: never, cut: time.Second,
			returned: 2 * time.Second, want: xhook.ErrAbandoned,
		},
		{name: "without any bound", takes: time.Hour, cut: never, returned: time.Hour, want: nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx := t.Context()
				if tc.end > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, tc.end)
					defer cancel()
				}
				began, cut := time.Now(), never
				done := make(chan struct{})
				if tc.takes != never {
					time.AfterFunc(tc.takes, func() { close(done) })
				}
				got := xhook.Finish(ctx, tc.timeout, done, func() {
					cut = time.Since(began)
					if tc.obeys != never {
						time.AfterFunc(tc.obeys, func() { close(done) })
					}
				})
				if returned := time.Since(began); !errors.Is(got, tc.want) || cut != tc.cut ||
					returned != tc.returned {
					t.Errorf("Finish = %v after %s, cut off after %s; want %v after %s, cut off after %s",
						got, returned, cut, tc.want, tc.returned, tc.cut)
				}
			})
		})
	}
}
