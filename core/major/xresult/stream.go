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
	mimeLines      = "application/jsonl"
	mimeLinesOlder = "application/x-ndjson"
	mimeEvents     = "text/event-stream"
)

// Stream answers with the items of seq, each written and flushed as it comes: as JSON
// lines, or as server-sent events where the client's Accept header prefers
// text/event-stream.
//
// seq is asked for the next item when the last one has been handed to the connection, so
// a slow client slows it down. When the client has gone, seq's yield returns false; while
// seq waits for something itself, it should watch the request's context.
//
// An error before the first item is answered as by Fail. A later one ends the stream with
// the envelope as its last line, or as its last event, of the type "error". The end of
// the request's context is such an error, so that a response that ends early does not
// look complete.
//
// A stream has no request timeout. http.Server.WriteTimeout does not apply to it;
// PLINTH_WRITE_TIMEOUT limits how long a write waits for a client that does not read.
func Stream[T any](c *gin.Context, seq iter.Seq2[T, error]) {
	if refuse(c) {
		return
	}
	s := newStream(c)
	if httpOf(c).Method == http.MethodHead {
		s.begin()
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
		s.begin()
	}
}

// stream is the state of one Stream.
type stream struct {
	c       *gin.Context
	format  string
	buf     []byte
	started bool
}

func newStream(c *gin.Context) *stream {
	format := preferred(sent(c, xhttp.Accept), mimeLines, mimeLinesOlder, mimeEvents)
	// A writer that has no deadlines has none to clear.
	_ = http.NewResponseController(c.Writer).SetWriteDeadline(time.Time{})

	// The writer of a middleware has the request timeout until the first item.
	if w, ok := c.Writer.(engineWriter); ok {
		w.StartStream(format)
	}
	return &stream{c: c, format: format}
}

// begin writes the header, once.
func (s *stream) begin() {
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
	h.Set("X-Accel-Buffering", "no") // proxies of the nginx family collect the items otherwise
	h.Add(string(xhttp.Vary), string(xhttp.Accept))
	s.c.Writer.WriteHeader(successStatus(s.c))
	s.c.Writer.WriteHeaderNow()
}

// send writes one item, and reports whether the client wants more.
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

// interrupted ends the stream with an error if the context of the request has ended.
func (s *stream) interrupted() bool {
	err := contextOf(s.c).Err()
	if err != nil {
		s.fail(err)
	}
	return err != nil
}

// fail ends the stream with the envelope of err.
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
	// If e is the cause with which the service has canceled the context, the stop of the
	// service has ended the stream, and the access log has the code.
	ctx := contextOf(s.c)
	if !errors.Is(ctx.Err(), context.Canceled) || !errors.Is(context.Cause(ctx), e) {
		f.log(ctx)
	}
	s.flush(out)
}

// frame starts an item in the buffer; event is what stands before its data in an event
// stream.
func (s *stream) frame(event string) {
	s.buf = s.buf[:0]
	if s.format == mimeEvents {
		s.buf = append(append(s.buf, event...), "data: "...)
	}
}

// flush writes out, which is the buffer with one JSON value, on one line, after its
// frame.
func (s *stream) flush(out []byte) bool {
	s.begin()
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
