package xresult

import (
	"context"
	"errors"
	"iter"
	"net/http"
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
// server-sent events if the client's Accept header prefers text/event-stream.
//
// Stream requests the next item after it passed the previous one to the connection, so a
// slow client slows seq down. If the client disconnects, yield returns false. While seq
// waits, it should also watch the request's context.
//
// If the first item is an error, the response is that of Fail. After a later error,
// Stream writes the envelope as the last line, or as the last event, of type "error". It
// does the same if the request's context is done, so that a truncated response does not
// look complete.
//
// A stream has no request timeout. http.Server.WriteTimeout does not apply to it, but
// PLINTH_WRITE_TIMEOUT limits how long a write waits for a client that does not read.
func Stream[T any](c *gin.Context, seq iter.Seq2[T, error]) {
	if isWritten(c) {
		return
	}
	s := newStream(c)
	if httpOf(c).Method == http.MethodHead {
		s.start()
		return
	}
	for item, err := range seq {
		if err != nil {
			s.fail(err)
			return
		}
		if !s.send(item) {
			return
		}
	}
	if !s.interrupted() {
		s.start()
	}
}

type stream struct {
	c       *gin.Context
	format  string
	buf     []byte
	started bool
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

// send writes one item and reports whether the stream continues.
func (s *stream) send(item any) bool {
	if s.interrupted() {
		return false
	}
	s.frame("")
	out, err := xbase.AppendValue(s.buf, item)
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
	s.frame("event: error\n")
	out, err := f.append(s.buf, false)
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

// frame starts an item in the buffer. In an event stream, event precedes the data.
func (s *stream) frame(event string) {
	s.buf = s.buf[:0]
	if s.format == mimeEvents {
		s.buf = append(append(s.buf, event...), "data: "...)
	}
}

// flush writes out, which contains one framed JSON value. It returns false if the write
// fails.
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
	return true
}
