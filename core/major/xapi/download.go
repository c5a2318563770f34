package xapi

import (
	"cmp"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"path"
	"strconv"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/major/xhelper"
	"github.com/plinthgo/plinth/core/major/xhttp"
)

var logger = xlog.WithName(xlog.NamedRESU)

// Download is the result of a handler whose response is a file. The response for a nil
// Download or nil Content is NOT_FOUND.
//
// If Content is an io.ReadSeeker, such as an *os.File, the response supports ranges and
// conditional requests (RFC 9110, sections 13 and 14). Otherwise it contains the whole
// content. If Content is an io.Closer, it is closed.
//
// If Content fails before the first byte, the response is that of the error. A later
// error aborts the connection, so that the client does not use a truncated file. A
// download has no request timeout.
type Download struct {
	// Content is the content of the file.
	Content io.Reader
	// Name is the file name that the client stores. If it is empty, browsers show the
	// file instead of storing it. Always set it for files of other users, because a
	// browser runs the scripts of an HTML file that it shows.
	Name string
	// ContentType is the content type. The default depends on the extension of Name and
	// is application/octet-stream if the extension is unknown.
	ContentType string
	// ModTime is the time of the last change. It may be zero.
	ModTime time.Time
	// ETag is the entity tag in double quotes, such as `"5f2c"`. It may be empty.
	ETag string
	// Size is the length in bytes of content that is not an io.ReadSeeker. 0 means that
	// it is unknown.
	Size int64
}

func (d *Download) serve(c *gin.Context) {
	if d == nil || d.Content == nil {
		_ = c.Error(xerror.New(xerror.NotFound, ""))
		return
	}
	if closer, ok := d.Content.(io.Closer); ok {
		defer func() { _ = closer.Close() }()
	}
	xhelper.MarkTransfer(c)
	d.setHeaders(c.Writer.Header())
	var err error
	if seeker, ok := d.Content.(io.ReadSeeker); ok {
		err = d.serveContent(c, seeker)
	} else {
		err = d.copy(c)
	}
	if err == nil {
		return
	}
	_ = c.Error(err)
	if !c.Writer.Written() {
		return // the response is that of the error
	}
	if ctx := c.Request.Context(); ctx.Err() == nil { // the client is connected
		logger.Warn(ctx, "download aborted", slog.Any("error", err))
	}
	panic(http.ErrAbortHandler) // the client must not use a truncated file
}

func (d *Download) setHeaders(h http.Header) {
	xhttp.ContentType.Set(h, cmp.Or(d.ContentType, mime.TypeByExtension(path.Ext(d.Name)),
		"application/octet-stream"))
	xhttp.XContentTypeOptions.Set(h, "nosniff")
	if d.Name != "" {
		xhttp.ContentDisposition.Set(h,
			mime.FormatMediaType("attachment", map[string]string{"filename": d.Name}))
	}
	if d.ETag != "" {
		xhttp.ETag.Set(h, d.ETag)
	}
}

// serveContent writes content with ranges and conditions. The text of an error response
// of http.ServeContent is replaced by the envelope of its status.
func (d *Download) serveContent(c *gin.Context, seeker io.ReadSeeker) error {
	content, w := &trackedContent{ReadSeeker: seeker}, &contentWriter{ResponseWriter: c.Writer}
	http.ServeContent(w, c.Request, d.Name, d.ModTime, content)
	err := content.failure()
	switch {
	case err != nil:
	case w.failed != 0:
		c.Status(w.failed)
	case !c.Writer.Written():
		c.Writer.WriteHeaderNow() // an empty file, HEAD or 304
	}
	return err
}

// trackedContent stores the first error of the content, which http.ServeContent drops.
// For several ranges, http.ServeContent reads on another goroutine.
type trackedContent struct {
	io.ReadSeeker

	mu  sync.Mutex
	err error
}

// Read implements io.Reader.
func (t *trackedContent) Read(p []byte) (int, error) {
	n, err := t.ReadSeeker.Read(p)
	if err != io.EOF {
		t.fail(err)
	}
	return n, err
}

// Seek implements io.Seeker.
func (t *trackedContent) Seek(offset int64, whence int) (int64, error) {
	n, err := t.ReadSeeker.Seek(offset, whence)
	t.fail(err)
	return n, err
}

func (t *trackedContent) fail(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.err = cmp.Or(t.err, err)
}

func (t *trackedContent) failure() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.err
}

// contentWriter drops error responses.
type contentWriter struct {
	http.ResponseWriter

	failed int // status of the error response
}

// WriteHeader implements http.ResponseWriter.
func (w *contentWriter) WriteHeader(status int) {
	if status >= http.StatusBadRequest {
		w.failed = status
		return
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements io.Writer.
func (w *contentWriter) Write(p []byte) (int, error) {
	if w.failed != 0 {
		return len(p), nil
	}
	return w.ResponseWriter.Write(p)
}

// copy writes content that is not an io.ReadSeeker.
func (d *Download) copy(c *gin.Context) error {
	h := c.Writer.Header()
	if d.Size > 0 {
		xhttp.ContentLength.Set(h, strconv.FormatInt(d.Size, 10))
	}
	if !d.ModTime.IsZero() {
		xhttp.LastModified.Set(h, d.ModTime.UTC().Format(http.TimeFormat))
	}
	c.Status(http.StatusOK)
	if c.Request.Method != http.MethodHead {
		if _, err := io.Copy(c.Writer, d.Content); err != nil {
			return err
		}
	}
	c.Writer.WriteHeaderNow()
	return nil
}
