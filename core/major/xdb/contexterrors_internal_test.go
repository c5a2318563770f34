package xdb

import (
	"context"
	"errors"
	"testing"
	"time"
)

// late is a context whose deadline has passed before its timer fired.
type late struct{ context.Context }

func (late) Deadline() (time.Time, bool) { return time.Now().Add(-time.Millisecond), true }

func (late) Err() error { return nil }

func Test_endOf(t *testing.T) {
	if err := endOf(late{t.Context()}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("endOf = %v, want DeadlineExceeded", err)
	}
	if err := endOf(t.Context()); err != nil {
		t.Errorf("endOf(active context) = %v", err)
	}
}
