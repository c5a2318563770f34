package xlog_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/plinthgo/plinth/core/common/xlog"
)

// noon is the time of every captured line.
var noon = time.Date(2025, 3, 4, 12, 0, 0, 123_456_789, time.UTC)

type recorder struct {
	mu     sync.Mutex
	writes []string
}

func (r *recorder) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.writes = append(r.writes, string(p))
	return len(p), nil
}

func (r *recorder) take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := r.writes
	r.writes = nil
	return out
}

// one returns the only line since the last call.
func (r *recorder) one(tb testing.TB) string {
	tb.Helper()
	lines := r.take()
	if len(lines) != 1 {
		tb.Fatalf("got %d writes %q, want 1", len(lines), lines)
	}
	if strings.Count(lines[0], "\n") != 1 || !strings.HasSuffix(lines[0], "\n") {
		tb.Fatalf("%q is not one line", lines[0])
	}
	return lines[0]
}

// object returns the only line since the last call, decoded.
func (r *recorder) object(tb testing.TB) map[string]any {
	tb.Helper()
	return decode(tb, r.one(tb))
}

func decode(tb testing.TB, line string) map[string]any {
	tb.Helper()
	var m map[string]any
	if err := json.Unmarshal([]byte(line), &m); err != nil {
		tb.Fatalf("line %q: %v", line, err)
	}
	return m
}

// newEngine returns an engine that writes JSON lines of level debug and above to the
// recorder.
func newEngine(tb testing.TB, change ...func(*xlog.Config)) (*xlog.Engine, *recorder) {
	tb.Helper()
	rec := &recorder{}
	c := xlog.Config{
		Level: -4, Format: xlog.FormatJSON, Writer: rec, Clock: func() time.Time { return noon },
	}
	for _, f := range change {
		f(&c)
	}
	e, err := xlog.New(c)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := e.Close(); err != nil {
			tb.Error(err)
		}
	})
	return e, rec
}

func console(c *xlog.Config) { c.Format = xlog.FormatConsole }

// formats changes the configuration to each format.
var formats = map[string]func(*xlog.Config){
	"json":    func(*xlog.Config) {},
	"console": console,
}

var errBoom = errors.New("boom")

func compact(tb testing.TB, v any) string {
	tb.Helper()
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		tb.Fatal(err)
	}
	return strings.TrimSuffix(buf.String(), "\n")
}
