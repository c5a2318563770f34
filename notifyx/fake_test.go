package notifyx_test

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/notifyx"
)

// sender records messages and returns configured errors.
type sender struct {
	mu  sync.Mutex
	got []notifyx.Message
	err error
	do  func(m *notifyx.Message)
	own string
}

// Send implements notifyx.Sender.
func (s *sender) Send(_ context.Context, m *notifyx.Message) error {
	s.mu.Lock()
	s.got = append(s.got, *m)
	err, do := s.err, s.do
	s.mu.Unlock()
	if do != nil {
		do(m)
	}
	return err
}

func (s *sender) last(t *testing.T) notifyx.Message {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.got) == 0 {
		t.Fatal("nothing was sent")
	}
	return s.got[len(s.got)-1]
}

func (s *sender) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.got)
}

// provider is a sender with its own template.
type provider struct{ sender }

// HasTemplate implements notifyx.TemplateSender.
func (p *provider) HasTemplate(name string) bool { return name == p.own }

func router(t *testing.T, opts ...notifyx.Option) *notifyx.Router {
	t.Helper()
	r, err := notifyx.New(opts...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// message returns a valid message.
func message(change ...func(m *notifyx.Message)) *notifyx.Message {
	m := &notifyx.Message{
		Type: notifyx.TypeEmail, To: []string{"ann@example.com"}, Subject: "Hi", Content: "Hello",
	}
	for _, c := range change {
		c(m)
	}
	return m
}

// logBuffer records log output. It is safe for concurrent use.
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

// capture returns a context and the log output written with it.
func capture(t *testing.T) (context.Context, *logBuffer) {
	t.Helper()
	out := &logBuffer{}
	engine, err := xlog.New(xlog.Config{Format: xlog.FormatJSON, Writer: out})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = engine.Close() })
	return xlog.NewContext(t.Context(), engine), out
}

var errDown = errors.New("the server is down")
