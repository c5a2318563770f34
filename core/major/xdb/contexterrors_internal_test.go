package xdb

import (
	"context"
	"errors"
	"testing"
	"time"
)

// expired is a context whose deadline has passed but whose timer has not fired.
type expired struct{ context.Context }

func (expired) Deadline() (time.Time, bool) { return time.Now().Add(-time.Millisecond), true }

func (expired) Err() error { return nil }

func Test_endOf(t *testing.T) {
	if err := endOf(expired{t.Context()}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("endOf = %v, want DeadlineExceeded", err)
	}
	if err := endOf(t.Context()); err != nil {
		t.Errorf("endOf(active context) = %v", err)
	}
}
