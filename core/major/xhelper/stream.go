package xhelper

import (
	"context"
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	xHttp "github.com/plinthgo/plinth/core/major/xhttp"
)

// A stream is a request whose response has no end of its own: its connection was hijacked, it
// has started a response of a content type that only streams have, or a handler has called
// MarkStream. What the client sends does not make a request a stream.

// MarkStream declares the request of c a stream before its response starts, for a stream whose
// content type does not tell, such as long polling. A stream has no request timeout.
func MarkStream(c *gin.Context) {
	if ex := exchangeOf(c); ex != nil {
		ex.markStream()
	}
}

// markStream makes the request a stream, which has no request timeout, and reports it to the server once.
func (ex *exchange) markStream() {
	if ex.ended.Load() || !ex.stream.CompareAndSwap(false, true) {
		return // a goroutine that outlives its request must not mark the next one of the connection
	}
	ex.deadline.lift()
	if report, ok := ex.origin.Context.Value(streamKey{}).(func()); ok {
		report()
	}
}

// streamKey finds the function of WithStreamReport in a context.
type streamKey struct{}

// WithStreamReport returns a context for the connection or the request of a server: report is
// called, on the goroutine of its handler, when a request with this context becomes a stream.
func WithStreamReport(ctx context.Context, report func()) context.Context {
	return context.WithValue(ctx, streamKey{}, report)
}

// streamTypes are the content types of responses without an end.
var streamTypes = []string{"text/event-stream", "multipart/x-mixed-replace"}

// streams reports whether a response with this header is a stream.
func streams(h http.Header) bool {
	sent := h[string(xHttp.ContentType)]
	if len(sent) == 0 || strings.HasPrefix(sent[0], "application/json") { // the usual one, without parsing
		return false
	}
	kind, _, _ := mime.ParseMediaType(sent[0]) // also returned with an error about the parameters
	return slices.Contains(streamTypes, kind)
}

// starting is called before each part of the body; the first decides whether it is a stream.
func (w *writer) starting() {
	if !w.ResponseWriter.Written() && streams(w.Header()) {
		w.exchange.markStream()
	}
}

// Write implements io.Writer.
func (w *writer) Write(p []byte) (int, error) {
	w.starting()
	return w.ResponseWriter.Write(p)
}

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
