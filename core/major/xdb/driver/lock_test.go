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
		granted int           // the attempt that is granted; 0 is never
		fails   int           // the attempt that fails; 0 is never
		timeout time.Duration // of the context; 0 is none
		elapsed time.Duration
		want    func(error) bool
	}{
		{name: "granted immediately", granted: 1, want: func(err error) bool { return err == nil }},
		{
			name: "granted later", granted: 4, elapsed: 300 * time.Millisecond,
			want: func(err error) bool { return err == nil },
		},
		{
			name: "try fails", fails: 3, elapsed: 200 * time.Millisecond,
			want: func(err error) bool { return errors.Is(err, boom) },
		},
		{
			name: "never granted", elapsed: time.Minute,
			want: func(err error) bool { return driver.KindOf(err) == driver.LockTimeout },
		},
		{
			name: "context ended", timeout: 150 * time.Millisecond, elapsed: 150 * time.Millisecond,
			want: func(err error) bool { return errors.Is(err, context.DeadlineExceeded) },
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx := t.Context()
				if tc.timeout > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, tc.timeout)
					defer cancel()
				}
				start, attempts := time.Now(), 0
				err := driver.WaitForLock(ctx, func() (bool, error) {
					if attempts++; attempts == tc.fails {
						return false, boom
					}
					return attempts == tc.granted, nil
				})
				elapsed := time.Since(start)
				if !tc.want(err) || elapsed != tc.elapsed {
					t.Errorf("WaitForLock = %v after %s, want %s", err, elapsed, tc.elapsed)
				}
			})
		})
	}
}
