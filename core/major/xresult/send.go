package xresult

import (
	"log/slog"
	"net/http"
	"strconv"
	"sync"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/major/xhttp"
)

const (
	// maxPooled is the size up to which buffers are reused.
	maxPooled = 64 << 10

	// lengthByServer is the maximum size for which net/http sets Content-Length itself
	// (bufferBeforeChunkingSize in net/http).
	lengthByServer = 2048
)

// Header values that all responses share. net/http does not modify them.
var (
	typeJSON    = []string{"application/json; charset=utf-8"}
	typeProblem = []string{xerror.ContentTypeProblem}
	noSniff     = []string{"nosniff"}
	// retrySoon is the default of Retry-After for a 503, in seconds.
	retrySoon = []string{"5"}
)

var buffers = sync.Pool{New: func() any { return new([]byte) }}

// putBuffer returns b with the storage of used to the pool.
func putBuffer(b *[]byte, used []byte) {
	if cap(used) > maxPooled {
		return
	}
	*b = used[:0]
	buffers.Put(b)
}

// isWritten reports whether the response has started. In that case it logs a warning.
func isWritten(c *gin.Context) bool {
	if !c.Writer.Written() {
		return false
	}
	logger.Warn(contextOf(c), "response already written",
		slog.String("handler", c.HandlerName()))
	return true
}

// write writes a complete response. It ignores write errors: they mean that the client
// has disconnected, and the access log contains the size.
func write(c *gin.Context, status int, contentType []string, body []byte) {
	h := c.Writer.Header()
	h[string(xhttp.ContentType)] = contentType
	h[string(xhttp.XContentTypeOptions)] = noSniff
	if status == http.StatusServiceUnavailable && len(h[string(xhttp.RetryAfter)]) == 0 {
		h[string(xhttp.RetryAfter)] = retrySoon
	}
	if len(body) > lengthByServer && len(h[string(xhttp.ContentEncoding)]) == 0 {
		h[string(xhttp.ContentLength)] = []string{strconv.Itoa(len(body))}
	} else if len(h[string(xhttp.ContentLength)]) > 0 { // a lookup is cheaper than a delete
		delete(h, string(xhttp.ContentLength))
	}
	c.Writer.WriteHeader(status)
	if w, ok := c.Writer.(engineWriter); ok {
		_, _ = w.WriteEnvelope(body)
	} else {
		_, _ = c.Writer.Write(body)
	}
}

// engineWriter is the writer of Plinth's engine. A middleware may have replaced it.
type engineWriter interface {
	// ChosenStatus returns the status that the handler set, even if an error is pending.
	ChosenStatus() int

	// StartStream is called before a stream waits for its first item.
	StartStream(contentType string)

	// WriteEnvelope writes an envelope. Unlike Write it does not check whether the
	// content type is that of a stream, which saves 2 % of the instructions of a request.
	WriteEnvelope(body []byte) (int, error)
}

var logger = xlog.WithName(xlog.NamedRESU)
