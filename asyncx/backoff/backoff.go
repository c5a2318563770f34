// Package backoff computes the wait between attempts.
package backoff

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// Policy returns the wait after a failed attempt. Attempts count from 1. It must be safe
// for concurrent use. Callers treat a negative wait as 0; the policies of this package
// never return one.
type Policy func(attempt int) time.Duration

// Exponential returns a policy that waits for first after the first attempt, and doubles
// the wait up to longest.
func Exponential(first, longest time.Duration) Policy {
	return func(attempt int) time.Duration {
		wait := float64(max(first, 0)) * math.Exp2(float64(min(max(attempt, 1)-1, 64)))
		if wait >= float64(longest) {
			return max(longest, 0)
		}
		return time.Duration(wait)
	}
}

// Constant returns a policy with a constant wait.
func Constant(wait time.Duration) Policy {
	return func(int) time.Duration { return max(wait, 0) }
}

// Schedule returns a policy with one wait per attempt; the last wait repeats. Without
// waits it returns 0.
func Schedule(waits ...time.Duration) Policy {
	waits = slices.Clone(waits)
	return func(attempt int) time.Duration {
		if len(waits) == 0 {
			return 0
		}
		return max(waits[min(max(attempt, 1), len(waits))-1], 0)
	}
}

// Jitter returns a policy that spreads each wait of p evenly by at most fraction of it, 0
// to 1. It keeps clients that failed together from retrying together.
func Jitter(p Policy, fraction float64) Policy {
	if fraction = min(max(fraction, 0), 1); math.IsNaN(fraction) {
		fraction = 0
	}
	return func(attempt int) time.Duration {
		wait := max(p(attempt), 0)
		spread := (2*rand.Float64() - 1) * fraction
		return time.Duration(min(float64(wait)*(1+spread), math.MaxInt64/2))
	}
}

// Default returns the default policy: 1 s, doubled after each attempt, at most 1 h, with
// 20 % jitter.
func Default() Policy { return Jitter(Exponential(time.Second, time.Hour), 0.2) }
