package xresult

import (
	"errors"
	"strconv"
	"strings"
	"time"
)

// Event is an item of a Stream with the fields of a server-sent event (WHATWG HTML,
// section 9.2). JSON lines contain only Data.
//
// A client that reconnects sends the last ID in the header Last-Event-ID, so that the
// handler can continue after that event.
type Event[T any] struct {
	// ID identifies the event. It must not contain a line break or a NUL byte. If it is
	// empty, the client keeps the previous ID.
	ID string
	// Name is the type of the event. It must not contain a line break or a NUL byte. If
	// it is empty, the type is "message". Do not use "error", which is the type of the
	// last event of a failed stream.
	Name string
	// Retry is the time after which a client reconnects, in whole milliseconds. Clients
	// use it until they receive another one. 0 means no change.
	Retry time.Duration
	// Data is encoded as JSON.
	Data T
}

// event is implemented by Event.
type event interface {
	fields() (id, name string, retry time.Duration)
	data() any
}

func (e Event[T]) fields() (id, name string, retry time.Duration) { return e.ID, e.Name, e.Retry }

func (e Event[T]) data() any { return e.Data }

var (
	errEventID    = errors.New("xresult: the ID of an event contains a line break or a NUL byte")
	errEventName  = errors.New("xresult: the name of an event contains a line break or a NUL byte")
	errEventRetry = errors.New("xresult: the retry time of an event is negative")
)

func checkEvent(e event) error {
	const reserved = "\r\n\x00"
	id, name, retry := e.fields()
	switch {
	case strings.ContainsAny(id, reserved):
		return errEventID
	case strings.ContainsAny(name, reserved):
		return errEventName
	case retry < 0:
		return errEventRetry
	default:
		return nil
	}
}

// appendEvent appends the lines of an event before its data.
func appendEvent(dst []byte, e event) []byte {
	id, name, retry := e.fields()
	if id != "" {
		dst = append(append(append(dst, "id: "...), id...), '\n')
	}
	if name != "" {
		dst = append(append(append(dst, "event: "...), name...), '\n')
	}
	if retry > 0 {
		dst = strconv.AppendInt(append(dst, "retry: "...), retry.Milliseconds(), 10)
		dst = append(dst, '\n')
	}
	return dst
}

// keepAliveInterval is the interval that the HTML standard suggests for comments. It is
// shorter than the timeouts of common proxies.
const keepAliveInterval = 15 * time.Second

// keepAlive starts to send comments to a client of server-sent events while no items
// arrive. The caller must call stop, which waits for a comment that is being sent.
func (s *stream) keepAlive() (stop func()) {
	if s.format != mimeEvents {
		return func() {}
	}
	stopped := false
	s.mu.Lock()
	defer s.mu.Unlock()
	s.timer = time.AfterFunc(keepAliveInterval, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if !stopped && contextOf(s.c).Err() == nil {
			s.flush(append(s.buf[:0], ':'))
		}
	})
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		stopped = true
		s.timer.Stop()
	}
}
