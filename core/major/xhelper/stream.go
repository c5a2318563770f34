package xhelper

import (
	"context"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/major/xhttp"
)

// A stream is a request whose response has no end of its own: its connection was
// hijacked, it has started a response of a content type that only streams have, or a
// handler has called MarkStream or xresult.Stream. What the client sends does not make a
// request a stream here; the stop of xmain also ends requests of clients that accept
// nothing but events.

// MarkStream declares the request of c a stream before its response starts, for a stream
// whose content type does not tell, such as long polling. A stream has no request
// timeout.
func MarkStream(c *gin.Context) {
	if ex := exchangeOf(c); ex != nil {
		ex.markStream()
	}
}

// markStream makes the request a stream, which has no request timeout, and reports it to
// the server once.
func (ex *exchange) markStream() {
	if ex.ended.Load() || !ex.stream.CompareAndSwap(false, true) {
		return // a goroutine that outlives its request must not mark the next one of the connection
	}
	ex.origin.lift()
	if report, ok := ex.origin.Context.Value(streamKey{}).(func()); ok {
		report()
	}
}

// streamKey finds the function of WithStreamReport in a context.
type streamKey struct{}

// WithStreamReport returns a context for the connection or the request of a server:
// report is called, on the goroutine of its handler, when a request with this context
// becomes a stream.
func WithStreamReport(ctx context.Context, report func()) context.Context {
	return context.WithValue(ctx, streamKey{}, report)
}

// StartStream implements an interface of xresult.
func (w *writer) StartStream(contentType string) { w.exchange.startStream(contentType) }

// startStream removes the request timeout if a response of this content type is a stream
// or consists of items, and reports whether it is a stream.
func (ex *exchange) startStream(contentType string) bool {
	kind, _, _ := strings.Cut(contentType, ";")
	switch strings.ToLower(strings.TrimSpace(kind)) {
	case "text/event-stream", "multipart/x-mixed-replace":
		ex.markStream()
		return true
	case "application/jsonl", "application/x-ndjson", "application/json-seq":
		// Items take as long as their data; but they have an end, and a stop waits for
		// it.
		ex.origin.lift()
	}
	return false
}

// starting is called before each part of the body; the first decides whether it is a
// stream. The client of a HEAD request gets nothing of a stream but its header, so the
// context ends with it.
func (w *writer) starting() {
	if w.ResponseWriter.Written() {
		return
	}
	sent := w.Header()[string(xhttp.ContentType)]
	if len(sent) == 0 || isJSON(sent[0]) {
		return
	}
	if w.exchange.startStream(sent[0]) && w.exchange.endHead != nil {
		w.exchange.endHead()
	}
}

// isJSON recognizes the content type of nearly all responses, so that the others are not
// looked for.
func isJSON(contentType string) bool {
	rest, ok := strings.CutPrefix(contentType, "application/json")
	return ok && (rest == "" || rest[0] == ';')
}

// Write implements io.Writer.
func (w *writer) Write(p []byte) (int, error) {
	w.starting()
	return w.ResponseWriter.Write(p)
}

// WriteEnvelope implements an interface of xresult.
func (w *writer) WriteEnvelope(body []byte) (int, error) { return w.ResponseWriter.Write(body) }

// WriteString implements io.StringWriter.
func (w *writer) WriteString(s string) (int, error) {
	w.starting()
	return w.ResponseWriter.WriteString(s)
}

// Flush implements http.Flusher.
func (w *writer) Flush() {
	w.starting()
	w.ResponseWriter.Flush()
}
