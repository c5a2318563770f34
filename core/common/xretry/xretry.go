// Package xretry provides delays between retries.
//
//	delay := xretry.Backoff{First: time.Second, Max: time.Minute}
//	for !done() && xretry.Sleep(ctx, delay.Next()) == nil {
//	}
package xretry

import (
	"context"
	"math/rand/v2"
	"time"
)

// Sleep waits for d, or until ctx is done, and returns ctx.Err().
func Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	return ctx.Err()
}

// Backoff computes exponential backoff with jitter. The base delay doubles from First to
// Max. Half of each delay is random, so that replicas that fail at the same time do not
// retry at the same time. A Backoff is not safe for concurrent use.
type Backoff struct {
	First, Max time.Duration

	next time.Duration
}

// Next returns the delay before the next attempt, which is between half the base delay
// and the base delay.
func (b *Backoff) Next() time.Duration {
	delay := max(b.next, b.First)
	b.next = min(2*delay, b.Max)
	return delay/2 + rand.N(delay/2+1)
}

// Reset sets the base delay back to First.
func (b *Backoff) Reset() { b.next = 0 }
