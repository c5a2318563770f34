package xresult

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xbase"
	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/major/xhttp"
)

const (
	mimeLines  = "application/jsonl"
	mimeNDJSON = "application/x-ndjson"
	mimeEvents = "text/event-stream"
)

// Stream writes and flushes the items of seq as they arrive: as JSON lines, or as
// server-sent events if the client's Accept header prefers text/event-stream. If T is an
// Event, server-sent events have its ID, name and retry time.
//
// Stream requests the next item after it passed the previous one to the connection, so a
// slow client slows seq down. If the client disconnects, yield returns false. While seq
// waits, it should also watch the request's context.
//
// While seq waits, Stream sends a comment to clients of server-sent events every 15
// seconds, so that proxies do not close the connection. The first comment starts the
// response. seq must therefore not change headers while it waits.
//
// If an error occurs before the response starts, the response is that of Fail. After a
// later error, Stream writes the envelope as the last line, or as the last event, of type
// "error". It does the same if the request's context is done, so that a truncated
// response does not look complete.
//
// A stream has no request timeout. http.Server.WriteTimeout does not apply to it, but
// PLINTH_WRITE_TIMEOUT limits how long a write waits for a client that does not read.
func Stream[T any](c *gin.Context, seq iter.Seq2[T, error]) {
	if isWritten(c) {
		return
	}
	s := newStream(c)
	defer s.keepAlive()()
	if httpOf(c).Method == http.MethodHead {
		s.start()
		return
	}
	for item, err := range seq {
		if !s.next(item, err) {
			return
		}
	}
	s.finish()
}

type stream struct {
	c      *gin.Context
	format string

	mu      sync.Mutex // of the response and the fields below
	buf     []byte
	started bool
	timer   *time.Timer // sends the next comment; nil for JSON lines
}

func newStream(c *gin.Context) *stream {
	format := preferred(requestHeader(c, xhttp.Accept), mimeLines, mimeNDJSON, mimeEvents)
	// It fails if the writer does not support deadlines.
	_ = http.NewResponseController(c.Writer).SetWriteDeadline(time.Time{})

	// If a middleware has replaced the writer, the request timeout applies until the
	// first item.
	if w, ok := c.Writer.(engineWriter); ok {
		w.StartStream(format)
	}
	return &stream{c: c, format: format}
}

func (s *stream) start() {
	if s.started {
		return
	}
	s.started = true
	h := s.c.Writer.Header()
	delete(h, string(xhttp.ContentLength))
	xhttp.ContentType.Set(h, s.format)
	if len(h[string(xhttp.CacheControl)]) == 0 {
		xhttp.CacheControl.Set(h, "no-cache")
	}
	h.Set("X-Accel-Buffering", "no") // disables buffering in nginx
	h.Add(string(xhttp.Vary), string(xhttp.Accept))
	s.c.Writer.WriteHeader(successStatus(s.c))
	s.c.Writer.WriteHeaderNow()
}

// next writes an item or an error and reports whether the stream continues.
func (s *stream) next(item any, err error) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.fail(err)
		return false
	}
	return s.send(item)
}

// finish completes the response after the last item.
func (s *stream) finish() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.interrupted() {
		s.start()
	}
}

// send writes one item and reports whether the stream continues.
func (s *stream) send(item any) bool {
	if s.interrupted() {
		return false
	}
	out, err := s.encode(item)
	if err != nil {
		s.fail(xerror.Wrap(xerror.SerializeError, "", err))
		return false
	}
	return s.flush(out) && !s.interrupted()
}

// interrupted reports whether the request's context is done. If so, it calls fail.
func (s *stream) interrupted() bool {
	err := contextOf(s.c).Err()
	if err != nil {
		s.fail(err)
	}
	return err != nil
}

// fail writes the envelope of err as the last item, or as the response if the stream has
// not started.
func (s *stream) fail(err error) {
	if !s.started {
		Fail(s.c, err)
		return
	}
	e := errorOf(s.c, err)
	if e == nil {
		return
	}
	f := newFailure(e, requestOf(s.c), 0)
	out, err := f.append(s.frame(Event[any]{Name: "error"}), false)
	if err != nil {
		s.fail(err)
		return
	}
	// If e is the cause of the canceled context, a shutdown ended the stream, and the
	// access log contains the code.
	ctx := contextOf(s.c)
	if !errors.Is(ctx.Err(), context.Canceled) || !errors.Is(context.Cause(ctx), e) {
		f.log(ctx)
	}
	s.flush(out)
}

// encode returns an item with its frame.
func (s *stream) encode(item any) ([]byte, error) {
	e, ok := item.(event)
	if !ok {
		return xbase.AppendValue(s.frame(nil), item)
	}
	if err := checkEvent(e); err != nil {
		return nil, err
	}
	return xbase.AppendValue(s.frame(e), e.data())
}

// frame returns the bytes before the data of an item. e is nil if the item is not an
// event.
func (s *stream) frame(e event) []byte {
	out := s.buf[:0]
	if s.format != mimeEvents {
		return out
	}
	if e != nil {
		out = appendEvent(out, e)
	}
	return append(out, "data: "...)
}

// flush writes out, which contains one framed JSON value or a comment. It returns false
// if the write fails.
func (s *stream) flush(out []byte) bool {
	s.start()
	out = append(out, '\n')
	if s.format == mimeEvents {
		out = append(out, '\n')
	}
	s.buf = out
	if _, err := s.c.Writer.Write(out); err != nil {
		return false
	}
	s.c.Writer.Flush()
	if s.timer != nil {
		s.timer.Reset(keepAliveInterval)
	}
	return true
}
