package redis

import (
	"math"
	"testing"
	"time"
)

func TestTTLOf(t *testing.T) {
	for _, tc := range []struct {
		name   string
		millis int64
		want   time.Duration
		ok     bool
	}{
		{name: "missing key", millis: -2},
		{name: "no expiry", millis: -1, ok: true},
		{name: "last millisecond", millis: 0, want: time.Millisecond, ok: true},
		{name: "second", millis: 1000, want: time.Second, ok: true},
		{
			name: "longer than a Duration", millis: math.MaxInt64,
			want: 9_223_372_036*time.Second + 854*time.Millisecond, ok: true,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got, ok := ttlOf(tc.millis); got != tc.want || ok != tc.ok {
				t.Errorf("ttlOf(%d) = %s, %t; want %s, %t", tc.millis, got, ok, tc.want, tc.ok)
			}
		})
	}
	for ttl, want := range map[time.Duration]int64{
		0: 0, 1: 1, time.Millisecond: 1,
		time.Millisecond + 1: 2, math.MaxInt64: math.MaxInt64/1_000_000 + 1,
	} {
		if got := millis(ttl); got != want {
			t.Errorf("millis(%s) = %d, want %d", ttl, got, want)
		}
	}
}
