package xdb

import (
	"context"
	"errors"
	"testing"
	"time"
)

// late is a context whose timer has not run yet although its deadline has passed.
type late struct{ context.Context }

func (late) Deadline() (time.Time, bool) { return time.Now().Add(-time.Millisecond), true }

func (late) Err() error { return nil }

func TestDeadlineThatHasPassedIsTheEndBeforeItsTimerRuns(t *testing.T) {
	if err := endOf(late{t.Context()}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("endOf = %v, want the deadline", err)
	}
	if err := endOf(t.Context()); err != nil {
		t.Errorf("endOf a context that goes on = %v", err)
	}
}
