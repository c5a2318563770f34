package xlease_test

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/plinthgo/plinth/core/common/xlease"
	"github.com/plinthgo/plinth/core/common/xlease/driver"
	"github.com/plinthgo/plinth/core/common/xlog"
)

const ttl = 30 * time.Second

var errDown = errors.New("the server is down")

// shaky is a right backend with a bad line to it.
type shaky struct {
	driver.Backend

	mu           sync.Mutex
	down         bool          // no call gets there
	hang         bool          // calls get there, and their answers do not come until ctx ends
	late         time.Duration // answers come so late, whatever ctx says
	stolen       bool          // somebody else has everything
	capabilities *driver.Capabilities
	age          *time.Duration
	acquires     int
	renewals     int
	releases     []driver.Holding
}

func (s *shaky) set(change func(s *shaky)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s)
}

func (s *shaky) released() []driver.Holding {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]driver.Holding(nil), s.releases...)
}

func (s *shaky) renewed() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.renewals
}

// line is the way to the backend and back.
func (s *shaky) line(ctx context.Context, count func(), call func() error) error {
	s.mu.Lock()
	count()
	down, hang, late := s.down, s.hang, s.late
	s.mu.Unlock()
	if down {
		return errDown
	}
	err := call()
	if hang {
		<-ctx.Done()
		return ctx.Err()
	}
	if late > 0 {
		<-time.After(late)
	}
	return err
}

func (s *shaky) Acquire(ctx context.Context, r driver.Request) (g driver.Grant, err error) {
	err = s.line(ctx, func() { s.acquires++ }, func() error {
		g, err = s.Backend.Acquire(ctx, r)
		return err
	})
	if s.age != nil {
		g.Age = *s.age
	}
	return g, err
}

func (s *shaky) Renew(ctx context.Context, h driver.Holding) (held bool, err error) {
	err = s.line(ctx, func() { s.renewals++ }, func() error {
		held, err = s.Backend.Renew(ctx, h)
		return err
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	return held && !s.stolen, err
}

func (s *shaky) Release(ctx context.Context, h driver.Holding) (held bool, err error) {
	err = s.line(ctx, func() { s.releases = append(s.releases, h) }, func() error {
		held, err = s.Backend.Release(ctx, h)
		return err
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	return held && !s.stolen, err
}

func (s *shaky) Capabilities() driver.Capabilities {
	if s.capabilities != nil {
		return *s.capabilities
	}
	return s.Backend.Capabilities()
}

// newLeases returns leases on a backend with a line that is good so far; both end with the test.
func newLeases(t *testing.T, opts ...xlease.Option) (*xlease.Leases, *shaky) {
	t.Helper()
	s := &shaky{Backend: xlease.InProcess(nil)}
	l := xlease.New(s, opts...)
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
