// Package backoff says how long to wait between attempts.
package backoff

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// Policy returns how long to wait after an attempt that failed, before the next one.
// Attempts count from 1. It is called from any goroutine. Those of this package never
// return a negative wait; one of another is no wait.
type Policy func(attempt int) time.Duration

// Exponential waits for first after the first attempt and twice as long after each
// further one, at most longest.
func Exponential(first, longest time.Duration) Policy {
	return func(attempt int) time.Duration {
		wait := float64(max(first, 0)) * math.Exp2(float64(min(max(attempt, 1)-1, 64)))
		if wait >= float64(longest) {
			return max(longest, 0)
		}
		return time.Duration(wait)
	}
}

// Constant always waits for the same time.
func Constant(wait time.Duration) Policy {
	return func(int) time.Duration { return max(wait, 0) }
}

// Schedule waits for the first of the waits after the first attempt, and so on; after the
// last of them, for the last again. Without any it does not wait.
func Schedule(waits ...time.Duration) Policy {
	waits = slices.Clone(waits)
	return func(attempt int) time.Duration {
		if len(waits) == 0 {
			return 0
		}
		return max(waits[min(max(attempt, 1), len(waits))-1], 0)
	}
}

// Jitter spreads the waits of p evenly around what they are: by at most the fraction, 0
// to 1, of each. It keeps those who failed together from coming back together.
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

// Default is the policy of whoever is given none: a second after the first attempt, twice
// as long after each further one, at most an hour, spread by a fifth.
func Default() Policy { return Jitter(Exponential(time.Second, time.Hour), 0.2) }
