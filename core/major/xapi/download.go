package xapi

import (
	"cmp"
	"io"
	"mime"
	"net/http"
	"path"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/major/xhttp"
)

// Download is the result of a handler whose response is a file.
//
// If Content is an io.ReadSeeker, such as an *os.File, the response supports ranges and
// conditional requests (RFC 9110, sections 13 and 14). Otherwise it contains the whole
// content. If Content is an io.Closer, it is closed.
type Download struct {
	// Content is the content of the file.
	Content io.Reader
	// Name is the file name that the client stores. If it is empty, browsers show the
	// file instead of storing it.
	Name string
	// ContentType is the content type. The default depends on the extension of Name and
	// is application/octet-stream if the extension is unknown.
	ContentType string
	// ModTime is the time of the last change. It may be zero.
	ModTime time.Time
	// ETag is the entity tag in double quotes, such as `"5f2c"`. It may be empty.
	ETag string
	// Size is the length in bytes of content that is not an io.ReadSeeker. 0 means that it
	// is unknown.
	Size int64
}

func (d *Download) serve(c *gin.Context) {
	if d == nil || d.Content == nil {
		_ = c.Error(xerror.New(xerror.FileNotFound, ""))
		return
	}
	if closer, ok := d.Content.(io.Closer); ok {
		defer func() { _ = closer.Close() }()
	}
	h := c.Writer.Header()
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
	if seeker, ok := d.Content.(io.ReadSeeker); ok {
		http.ServeContent(c.Writer, c.Request, d.Name, d.ModTime, seeker)
		return
	}
	d.copy(c)
}

// copy writes content that is not an io.ReadSeeker. An error aborts the connection,
// because the client must not use a truncated file.
func (d *Download) copy(c *gin.Context) {
	h := c.Writer.Header()
	if d.Size > 0 {
		xhttp.ContentLength.Set(h, strconv.FormatInt(d.Size, 10))
	}
	if !d.ModTime.IsZero() {
		xhttp.LastModified.Set(h, d.ModTime.UTC().Format(http.TimeFormat))
	}
	c.Status(http.StatusOK)
	if c.Request.Method == http.MethodHead {
		c.Writer.WriteHeaderNow()
		return
	}
	if _, err := io.Copy(c.Writer, d.Content); err != nil {
		_ = c.Error(err)
		if c.Writer.Written() {
			panic(http.ErrAbortHandler)
		}
	}
}
