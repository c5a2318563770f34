// Package xretry waits between attempts.
//
//	pause := xretry.Backoff{First: time.Second, Max: time.Minute}
//	for !done() && xretry.Sleep(ctx, pause.Next()) == nil {
//	}
package xretry

import (
	"context"
	"math/rand/v2"
	"time"
)

// Sleep waits for d or until ctx ends. It returns ctx.Err().
func Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	return ctx.Err()
}

// Backoff returns the pauses between the attempts at something: each is twice as long as
// the one before, from First to Max, and half of it is random, so that replicas that
// failed together do not come back together. It is not safe for concurrent use.
type Backoff struct {
	First, Max time.Duration

	next time.Duration
}

// Next returns how long to wait before the next attempt.
func (b *Backoff) Next() time.Duration {
	pause := max(b.next, b.First)
	b.next = min(2*pause, b.Max)
	return pause/2 + rand.N(pause/2+1)
}

// Reset starts again with First.
func (b *Backoff) Reset() { b.next = 0 }
