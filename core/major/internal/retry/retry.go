// Package retry connects to servers that are not reachable yet.
package retry

import (
	"context"
	"fmt"
	"time"

	"github.com/plinthgo/plinth/core/common/xretry"
)

// Connect calls try with increasing pauses until it succeeds. The first attempt is 1.
// Connect calls waiting before each pause.
//
// It fails with the error of the last attempt if that error is not transient, if the next
// attempt would start after timeout, or if ctx is done.
func Connect[T any](
	ctx context.Context, timeout time.Duration, try func(attempt int) (T, error),
	transient func(error) bool,
	waiting func(attempt int, pause time.Duration, err error),
) (T, error) {
	var none T
	start := time.Now()
	backoff := xretry.Backoff{First: 250 * time.Millisecond, Max: 5 * time.Second}
	for attempt := 1; ; attempt++ {
		if ctx.Err() != nil {
			return none, context.Cause(ctx)
		}
		v, err := try(attempt)
		if err == nil {
			return v, nil
		}
		pause := backoff.Next()
		switch {
		case ctx.Err() != nil || !transient(err):
			return none, interrupted(ctx, err)
		case time.Since(start)+pause >= timeout:
			return none, fmt.Errorf("failed at attempt %d: %w", attempt, err)
		}
		waiting(attempt, pause, err)
		if xretry.Sleep(ctx, pause) != nil {
			return none, interrupted(ctx, err)
		}
	}
}

// interrupted adds the cause of ctx to the last error if ctx has ended.
func interrupted(ctx context.Context, last error) error {
	if cause := context.Cause(ctx); cause != nil {
		return fmt.Errorf("%w: %w", cause, last)
	}
	return last
}
