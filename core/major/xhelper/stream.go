package xhelper

import (
	"context"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/major/xhttp"
)

// A stream is a response without a defined end. A request becomes a stream if its
// connection is hijacked or if its response starts with the content type of a stream. A
// handler can also call MarkStream or xresult.Stream. Request headers do not make a
// request a stream in this package. The shutdown of xmain also treats requests of clients
// that accept only events as streams.

// MarkStream declares the request of c a stream before its response starts. Use it if the
// content type does not identify a stream, for example for long polling. A stream has no
// request timeout.
func MarkStream(c *gin.Context) {
	if ex := exchangeOf(c); ex != nil {
		ex.markStream()
	}
}

// MarkTransfer declares that the duration of the request of c depends on the amount of
// data: the handler reads the body as a stream, or the response is a download. Such a
// request has no request timeout, and its body does not count against
// Config.MaxInflightBodyBytes. Unlike a stream, a shutdown waits for it.
func MarkTransfer(c *gin.Context) {
	ex := exchangeOf(c)
	if ex == nil {
		return
	}
	ex.deadline.remove()
	if ex.body != nil {
		ex.body.release()
	}
}

// markStream makes the request a stream, removes its request timeout and reports it to
// the server once.
func (ex *exchange) markStream() {
	if ex.closed.Load() || !ex.stream.CompareAndSwap(false, true) {
		// A goroutine that outlives its request must not mark the next request of the
		// connection.
		return
	}
	ex.deadline.remove()
	if report, ok := ex.deadline.Context.Value(streamKey{}).(func()); ok {
		report()
	}
}

type streamKey struct{}

// WithStreamReport returns a context for a connection or a request of a server. If a
// request with this context becomes a stream, report is called on the goroutine of its
// handler.
func WithStreamReport(ctx context.Context, report func()) context.Context {
	return context.WithValue(ctx, streamKey{}, report)
}

// StartStream implements an interface of xresult.
func (w *writer) StartStream(contentType string) { w.exchange.startStream(contentType) }

// startStream removes the request timeout for the content type of a stream or of JSON
// lines. It reports whether the type is that of a stream.
func (ex *exchange) startStream(contentType string) bool {
	kind, _, _ := strings.Cut(contentType, ";")
	switch strings.ToLower(strings.TrimSpace(kind)) {
	case "text/event-stream", "multipart/x-mixed-replace":
		ex.markStream()
		return true
	case "application/jsonl", "application/x-ndjson", "application/json-seq":
		// The duration depends on the data, but the response is finite, so a shutdown
		// waits for it.
		ex.deadline.remove()
	}
	return false
}

// beforeWrite is called before each part of the response. The first call determines
// whether the response is a stream. For a HEAD request it cancels the context of a
// stream, because the client receives only the header.
func (w *writer) beforeWrite() {
	if w.ResponseWriter.Written() {
		return
	}
	sent := w.Header()[string(xhttp.ContentType)]
	if len(sent) == 0 || isJSON(sent[0]) {
		return
	}
	if w.exchange.startStream(sent[0]) && w.exchange.cancelHead != nil {
		w.exchange.cancelHead()
	}
}

// isJSON recognizes the most frequent content type, so that most responses skip the
// comparison with the content types of streams.
func isJSON(contentType string) bool {
	rest, ok := strings.CutPrefix(contentType, "application/json")
	return ok && (rest == "" || rest[0] == ';')
}

// Write implements io.Writer.
func (w *writer) Write(p []byte) (int, error) {
	w.beforeWrite()
	return w.ResponseWriter.Write(p)
}

// WriteEnvelope implements an interface of xresult.
func (w *writer) WriteEnvelope(body []byte) (int, error) { return w.ResponseWriter.Write(body) }

// WriteString implements io.StringWriter.
func (w *writer) WriteString(s string) (int, error) {
	w.beforeWrite()
	return w.ResponseWriter.WriteString(s)
}

// Flush implements http.Flusher.
func (w *writer) Flush() {
	w.beforeWrite()
	w.ResponseWriter.Flush()
}
