package xbind

import (
	"io"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/major/xhelper"
)

// transferBlock is the part of a body that a client must send within the read timeout of
// the server.
const transferBlock = 64 << 10

// startTransfer prepares a body that the handler reads as a stream. The server's timeouts
// limit whole requests, but the duration of an upload depends on its size.
func startTransfer(c *gin.Context) {
	xhelper.MarkTransfer(c)
	server, _ := c.Request.Context().Value(http.ServerContextKey).(*http.Server)
	if server != nil && server.ReadTimeout > 0 {
		c.Request.Body = &transferBody{
			ReadCloser: c.Request.Body, timeout: server.ReadTimeout,
			controller: http.NewResponseController(c.Writer),
		}
	}
}

// transferBody renews the read timeout after each block.
type transferBody struct {
	io.ReadCloser

	controller *http.ResponseController
	timeout    time.Duration
	read       int // since the last renewal
}

// Read implements io.Reader. After the end of the body the server reads the connection
// itself, so Read must not set the deadline then.
func (b *transferBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.read += n
	if b.read >= transferBlock && err == nil {
		b.read = 0
		// It fails if the writer does not support deadlines.
		_ = b.controller.SetReadDeadline(time.Now().Add(b.timeout))
	}
	return n, err
}
