package driver_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

func TestWaitForLock(t *testing.T) {
	boom := errors.New("boom")
	for _, tc := range []struct {
		name    string
		granted int // number of the try; 0 is never
		fails   int // number of the try
		ends    time.Duration
		took    time.Duration
		want    func(error) bool
	}{
		{name: "immediately", granted: 1, want: func(err error) bool { return err == nil }},
		{
			name: "after a while", granted: 4, took: 300 * time.Millisecond,
			want: func(err error) bool { return err == nil },
		},
		{
			name: "an error", fails: 3, took: 200 * time.Millisecond,
			want: func(err error) bool { return errors.Is(err, boom) },
		},
		{
			name: "never", took: time.Minute,
			want: func(err error) bool { return driver.KindOf(err) == driver.LockTimeout },
		},
		{
			name: "context ended", ends: 150 * time.Millisecond, took: 150 * time.Millisecond,
			want: func(err error) bool { return errors.Is(err, context.DeadlineExceeded) },
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx := t.Context()
				if tc.ends > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, tc.ends)
					defer cancel()
				}
				start, tries := time.Now(), 0
				err := driver.WaitForLock(ctx, func() (bool, error) {
					if tries++; tries == tc.fails {
						return false, boom
					}
					return tries == tc.granted, nil
				})
				if took := time.Since(start); !tc.want(err) || took != tc.took {
					t.Errorf("WaitForLock = %v after %s, want %s", err, took, tc.took)
				}
			})
		})
	}
}
