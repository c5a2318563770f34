package notifyx_test

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"testing"

	xLog "github.com/plinthgo/plinth/core/common/xlog"
	xNotify "github.com/plinthgo/plinth/notifyx"
)

// sender keeps what it is given, and answers what it is told to.
type sender struct {
	mu   sync.Mutex
	got  []xNotify.Message
	err  error
	do   func(m *xNotify.Message)
	lies bool
	own  string
}

// Send implements xNotify.Sender.
func (s *sender) Send(_ context.Context, m *xNotify.Message) (xNotify.Result, error) {
	s.mu.Lock()
	s.got = append(s.got, *m)
	err, do, lies := s.err, s.do, s.lies
	s.mu.Unlock()
	if do != nil {
		do(m)
	}
	if lies {
		return xNotify.Result{ID: "another", ErrorCode: 7}, err
	}
	return xNotify.NewResult(m, err), err
}

func (s *sender) last(t *testing.T) xNotify.Message {
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

// provider is a sender with a template of its own.
type provider struct{ sender }

// HasTemplate implements xNotify.TemplateSender.
func (p *provider) HasTemplate(name string) bool { return name == p.own }

// router makes a router that must be right.
func router(t *testing.T, opts ...xNotify.Option) *xNotify.Router {
	t.Helper()
	r, err := xNotify.New(opts...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// message returns a valid one.
func message(change ...func(m *xNotify.Message)) *xNotify.Message {
	m := &xNotify.Message{Type: xNotify.TypeEmail, To: []string{"ann@example.com"}, Subject: "Hi", Content: "Hello"}
	for _, c := range change {
		c(m)
	}
	return m
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

// capture returns a context whose lines can be read.
func capture(t *testing.T) (context.Context, *lines) {
	t.Helper()
	out := &lines{}
	engine, err := xLog.New(xLog.Config{Format: xLog.FormatJSON, Writer: out})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = engine.Close() })
	return xLog.NewContext(t.Context(), engine), out
}

var errDown = errors.New("the server is down")
