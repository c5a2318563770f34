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
	// bufferKept is the largest buffer that goes back to the pool, so that one large
	// answer does not stay in memory for ever.
	bufferKept = 64 << 10

	// lengthByServer is the longest body whose Content-Length net/http works out by
	// itself (bufferBeforeChunkingSize in net/http).
	lengthByServer = 2048
)

// The values of headers, shared by all responses. net/http does not change them.
var (
	typeJSON    = []string{"application/json; charset=utf-8"}
	typeProblem = []string{xerror.ContentTypeProblem}
	noSniff     = []string{"nosniff"}
	// retrySoon is how many seconds a client waits after a 503 without a Retry-After of
	// its own.
	retrySoon = []string{"5"}
)

var buffers = sync.Pool{New: func() any { return new([]byte) }}

// putBuffer gives back b, whose storage is now that of used.
func putBuffer(b *[]byte, used []byte) {
	if cap(used) > bufferKept {
		return
	}
	*b = used[:0]
	buffers.Put(b)
}

// refuse reports that the response has been started already, and logs that it was to be
// answered again.
func refuse(c *gin.Context) bool {
	if !c.Writer.Written() {
		return false
	}
	logger.Warn(contextOf(c), "a second answer was dropped: the response has been written already",
		slog.String("handler", c.HandlerName()))
	return true
}

// write writes a whole response. An error of the connection is the client's leaving:
// nobody is left to tell, and the access log has the size.
func write(c *gin.Context, status int, contentType []string, body []byte) {
	h := c.Writer.Header()
	h[string(xhttp.ContentType)] = contentType
	h[string(xhttp.XContentTypeOptions)] = noSniff
	if status == http.StatusServiceUnavailable && len(h[string(xhttp.RetryAfter)]) == 0 {
		h[string(xhttp.RetryAfter)] = retrySoon
	}
	if len(body) > lengthByServer && len(h[string(xhttp.ContentEncoding)]) == 0 {
		h[string(xhttp.ContentLength)] = []string{strconv.Itoa(len(body))}
	} else if len(h[string(xhttp.ContentLength)]) > 0 { // to look costs less than to delete
		delete(h, string(xhttp.ContentLength))
	}
	c.Writer.WriteHeader(status)
	if w, ok := c.Writer.(engineWriter); ok {
		_, _ = w.WriteEnvelope(body)
	} else {
		_, _ = c.Writer.Write(body)
	}
}

// engineWriter is the writer of Plinth's engine. A middleware may have replaced it by its
// own.
type engineWriter interface {
	// ChosenStatus returns the status that the handler has set. Status considers pending
	// errors too.
	ChosenStatus() int

	// StartStream is called before a stream waits for its first item.
	StartStream(contentType string)

	// WriteEnvelope writes an envelope, which is no stream. Write looks at the content
	// type first, which is 2 % of the instructions of a request.
	WriteEnvelope(body []byte) (int, error)
}

var logger = xlog.WithName(xlog.NamedRESU)
