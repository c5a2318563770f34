package xlease_test

import (
	"bytes"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/plinthgo/plinth/core/common/internal/leasetest"
	"github.com/plinthgo/plinth/core/common/xlease"
	"github.com/plinthgo/plinth/core/common/xlog"
)

const ttl = 30 * time.Second

var errDown = leasetest.ErrDown

// shaky is a correct backend with a faulty connection to it.
type shaky = leasetest.Backend

// newLeases returns leases on a backend with a line that is good so far; both end with
// the test.
func newLeases(t *testing.T) (*xlease.Leases, *shaky) {
	t.Helper()
	s := &shaky{Backend: xlease.InProcess(nil)}
	l := xlease.New(s)
	t.Cleanup(func() { _ = l.Close() })
	return l, s
}

// lines is a log that can be read.
type lines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// capture returns what the log says until the test ends.
func capture(t *testing.T) *lines {
	t.Helper()
	out := &lines{}
	engine, err := xlog.New(xlog.Config{Format: xlog.FormatJSON, Writer: out})
	if err != nil {
		t.Fatal(err)
	}
	restore := xlog.SetDefault(engine)
	t.Cleanup(func() {
		restore()
		_ = engine.Close()
	})
	return out
}

// take takes a lease that must be free.
func take(t *testing.T, l *xlease.Leases, name string, opts ...xlease.LeaseOption) *xlease.Lease {
	t.Helper()
	lease, err := l.Lease(t.Context(), name, ttl, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return lease
}

// held fails the test where a lease is, or is not, to be relied on.
func held(t *testing.T, lease *xlease.Lease, want error) {
	t.Helper()
	if err := lease.Err(); !errors.Is(err, want) {
		t.Fatalf("Err = %v, want %v", err, want)
	}
	select {
	case <-lease.Done():
		if want == nil {
			t.Fatal("Done is closed")
		}
	default:
		if want != nil {
			t.Fatalf("Done is open, want it closed by %v", want)
		}
	}
}
