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

// fakeBackend is a correct backend with a faulty connection.
type fakeBackend = leasetest.Backend

// newLeases returns leases on a fake backend. The test closes the leases.
func newLeases(t *testing.T) (*xlease.Leases, *fakeBackend) {
	t.Helper()
	s := &fakeBackend{Backend: xlease.InProcess(nil)}
	l := xlease.New(s)
	t.Cleanup(func() { _ = l.Close() })
	return l, s
}

// logBuffer is a log writer that is safe for concurrent use.
type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

func captureLog(t *testing.T) *logBuffer {
	t.Helper()
	out := &logBuffer{}
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

func acquire(
	t *testing.T, l *xlease.Leases, name string, opts ...xlease.LeaseOption,
) *xlease.Lease {
	t.Helper()
	lease, err := l.Lease(t.Context(), name, ttl, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return lease
}

// checkErr fails the test if Err and Done of the lease do not match want.
func checkErr(t *testing.T, lease *xlease.Lease, want error) {
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
