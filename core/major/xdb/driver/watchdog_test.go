package driver_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

func TestWatchdog(t *testing.T) {
	for _, tc := range []struct {
		name         string
		stop, cancel time.Duration // after the start; 0 is never
		want         time.Duration // time of the call of abort; 0 is never
	}{
		{name: "stopped before the context ended", stop: time.Second, cancel: 2 * time.Second},
		{name: "stopped within the timeout", stop: 1400 * time.Millisecond, cancel: time.Second},
		{
			name: "stopped too late", stop: 3 * time.Second, cancel: time.Second,
			want: 1500 * time.Millisecond,
		},
		{name: "not canceled", stop: time.Second},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if tc.cancel > 0 {
					time.AfterFunc(tc.cancel, cancel)
				}
				start := time.Now()
				var aborted atomic.Int64
				stop := driver.Watchdog(ctx, 500*time.Millisecond,
					func() { aborted.Store(int64(time.Since(start))) })
				<-time.After(tc.stop)
				stop()
				stop()
				<-time.After(time.Minute)
				if got := time.Duration(aborted.Load()); got != tc.want {
					t.Errorf("aborted after %s, want %s", got, tc.want)
				}
			})
		})
	}
}

func TestConfig_Address(t *testing.T) {
	for _, tc := range []struct {
		name       string
		config     driver.Config
		host, port string
		want       string // of the error
	}{
		{name: "nothing", host: "localhost", port: "1433"},
		{name: "both", config: driver.Config{Host: "db", Port: 5}, host: "db", port: "5"},
		{
			name: "IPv6 address in brackets", config: driver.Config{Host: "[::1]"}, host: "::1",
			port: "1433",
		},
		{
			name: "IPv6 address without brackets", config: driver.Config{Host: "::1"}, host: "::1",
			port: "1433",
		},
		{
			name: "too large", config: driver.Config{Port: 65536},
			want: `DATABASE_PORT: "65536" is not a valid port (accepted: 1 to 65535)`,
		},
		{
			name: "below zero", config: driver.Config{Port: -1},
			want: `DATABASE_PORT: "-1" is not a valid port (accepted: 1 to 65535)`,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			host, port, err := tc.config.Address(1433)
			if host != tc.host || port != tc.port || (err == nil) != (tc.want == "") {
				t.Fatalf("Address = %q, %q, %v; want %q, %q", host, port, err, tc.host, tc.port)
			}
			if err != nil && err.Error() != tc.want {
				t.Errorf("error = %v, want %s", err, tc.want)
			}
		})
	}
}
