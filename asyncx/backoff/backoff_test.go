package backoff_test

import (
	"math"
	"testing"
	"time"

	"github.com/plinthgo/plinth/asyncx/backoff"
)

func TestPolicy(t *testing.T) {
	for _, tc := range []struct {
		name    string
		policy  backoff.Policy
		attempt int
		want    time.Duration
	}{
		{
			name:   "exponential, first",
			policy: backoff.Exponential(time.Second, time.Hour), attempt: 1, want: time.Second,
		},
		{
			name: "exponential, second", policy: backoff.Exponential(time.Second, time.Hour),
			attempt: 2, want: 2 * time.Second,
		},
		{
			name: "exponential, tenth", policy: backoff.Exponential(time.Second, time.Hour),
			attempt: 10, want: 512 * time.Second,
		},
		{
			name:   "exponential, maximum",
			policy: backoff.Exponential(time.Second, time.Hour), attempt: 13, want: time.Hour,
		},
		{
			name:   "exponential, attempt 0",
			policy: backoff.Exponential(time.Second, time.Hour), attempt: 0, want: time.Second,
		},
		{
			name:    "exponential, lowest attempt",
			policy:  backoff.Exponential(time.Second, time.Hour),
			attempt: math.MinInt, want: time.Second,
		},
		{
			name:    "exponential, many attempts",
			policy:  backoff.Exponential(time.Second, math.MaxInt64),
			attempt: math.MaxInt, want: math.MaxInt64,
		},
		{
			name:   "exponential, zero first wait",
			policy: backoff.Exponential(0, time.Hour), attempt: 5000, want: 0,
		},
		{
			name:   "exponential, negative first wait",
			policy: backoff.Exponential(-time.Second, time.Hour), attempt: 3, want: 0,
		},
		{
			name:   "exponential, maximum below the first wait",
			policy: backoff.Exponential(time.Hour, time.Second), attempt: 1, want: time.Second,
		},
		{
			name:   "exponential, negative maximum",
			policy: backoff.Exponential(time.Hour, -time.Second), attempt: 1, want: 0,
		},
		{name: "constant", policy: backoff.Constant(time.Minute), attempt: 100, want: time.Minute},
		{
			name:   "constant, negative wait",
			policy: backoff.Constant(-time.Minute), attempt: 1, want: 0,
		},
		{
			name:   "schedule, first",
			policy: backoff.Schedule(time.Second, time.Minute), attempt: 1, want: time.Second,
		},
		{
			name:   "schedule, last",
			policy: backoff.Schedule(time.Second, time.Minute), attempt: 2, want: time.Minute,
		},
		{
			name: "schedule, after the last", policy: backoff.Schedule(time.Second, time.Minute),
			attempt: math.MaxInt, want: time.Minute,
		},
		{
			name:   "schedule, negative attempt",
			policy: backoff.Schedule(time.Second, time.Minute), attempt: -1, want: time.Second,
		},
		{
			name:   "schedule, negative wait",
			policy: backoff.Schedule(-time.Second), attempt: 1, want: 0,
		},
		{name: "schedule, empty", policy: backoff.Schedule(), attempt: 1, want: 0},
		{
			name: "no jitter", policy: backoff.Jitter(backoff.Constant(time.Minute), 0), attempt: 1,
			want: time.Minute,
		},
		{
			name: "negative jitter", policy: backoff.Jitter(backoff.Constant(time.Minute), -1),
			attempt: 1, want: time.Minute,
		},
		{
			name:    "NaN jitter",
			policy:  backoff.Jitter(backoff.Constant(time.Minute), math.NaN()),
			attempt: 1, want: time.Minute,
		},
		{
			name:   "jitter of a negative wait",
			policy: backoff.Jitter(func(int) time.Duration { return -1 }, 1), attempt: 1, want: 0,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := tc.policy(tc.attempt); got != tc.want {
				t.Errorf("wait = %s, want %s", got, tc.want)
			}
		})
	}
}

func TestJitter(t *testing.T) {
	t.Run("spreads waits evenly", func(t *testing.T) {
		for _, tc := range []struct {
			name      string
			fraction  float64
			low, high time.Duration
		}{
			{name: "a fifth", fraction: 0.2, low: 48 * time.Second, high: 72 * time.Second},
			{name: "the whole wait", fraction: 1, low: 0, high: 2 * time.Minute},
			{name: "above 1", fraction: 5, low: 0, high: 2 * time.Minute},
		} {
			t.Run(tc.name, func(t *testing.T) {
				p := backoff.Jitter(backoff.Constant(time.Minute), tc.fraction)
				width := tc.high - tc.low
				var lower, upper int
				for range 10_000 {
					switch wait := p(1); {
					case wait < tc.low || wait > tc.high:
						t.Fatalf("wait = %s, want %s to %s", wait, tc.low, tc.high)
					case wait < tc.low+width/4:
						lower++
					case wait > tc.high-width/4:
						upper++
					}
				}
				if lower < 2000 || upper < 2000 {
					t.Errorf("%d and %d of 10000 waits are in the outer quarters, want about 2500",
						lower, upper)
				}
			})
		}
	})

	t.Run("does not overflow", func(t *testing.T) {
		p := backoff.Jitter(backoff.Constant(math.MaxInt64), 1)
		for range 1000 {
			if wait := p(1); wait < 0 {
				t.Fatalf("wait = %s", wait)
			}
		}
	})
}

func TestDefault(t *testing.T) {
	p := backoff.Default()
	for attempt, want := range map[int]time.Duration{
		1: time.Second, 5: 16 * time.Second, 13: time.Hour, 1000: time.Hour,
	} {
		if got := p(attempt); got < want*8/10 || got > want*12/10 {
			t.Errorf("the wait after attempt %d is %s, want %s with 20 %% jitter",
				attempt, got, want)
		}
	}
}

func TestSchedule(t *testing.T) {
	waits := []time.Duration{time.Second, time.Minute}
	p := backoff.Schedule(waits...)
	waits[0] = time.Hour
	if got := p(1); got != time.Second {
		t.Errorf("wait = %s, want 1s", got)
	}
}
