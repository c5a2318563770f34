package xbind

import (
	"bytes"
	"context"
	"encoding/json"
	"mime"
	"net/http"
	"strings"
	"sync"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xvalid"
	"github.com/plinthgo/plinth/core/internal/phrase"
)

// maxPooled is the maximum initial size of a buffer. A larger body grows its buffer as
// data arrives. Buffers above twice this size are not reused.
const maxPooled = 64 << 10

// bodyBuffer is the reusable memory for reading one body.
type bodyBuffer struct {
	buf  bytes.Buffer
	scan scanner
}

var bodyBuffers = sync.Pool{New: func() any { return new(bodyBuffer) }}

func (b *bodyBuffer) release() {
	if b.buf.Cap() <= 2*maxPooled {
		b.buf.Reset()
		bodyBuffers.Put(b)
	}
}

// readBody reads and decodes the JSON body. If it fails, it reports the error and returns
// false. The decoded value shares no memory with the pooled buffer: encoding/json copies
// strings and json.RawMessage, and requires UnmarshalJSON to copy the data that it
// retains.
func readBody(c *gin.Context, s Strictness, p *plan, dst any) bool {
	b, _ := bodyBuffers.Get().(*bodyBuffer)
	defer b.release()
	err := checkHeaders(c.Request, &s)
	if err == nil {
		err = b.read(c.Request, &s)
	}
	if err == nil {
		err = b.decode(c.Request.Context(), &s, p, dst)
	}
	return err == nil || report(c, err)
}

// checkHeaders requires a non-empty JSON body in UTF-8 without a content coding.
func checkHeaders(r *http.Request, s *Strictness) *xerror.Error {
	switch {
	case isEmpty(r):
		return newError(r.Context(), xerror.BodyEmpty, phrase.NoBody)
	case s.AllowAnyContentType:
		return nil
	case isEncoded(r):
		return newError(r.Context(), xerror.UnsupportedMedia, msgEncoding)
	case !isJSON(r.Header.Get("Content-Type")):
		return newError(r.Context(), xerror.UnsupportedMedia, msgMedia)
	}
	return nil
}

func isEmpty(r *http.Request) bool {
	return r.Body == nil || r.Body == http.NoBody || r.ContentLength == 0
}

func isEncoded(r *http.Request) bool {
	coding := r.Header.Get("Content-Encoding")
	return coding != "" && !strings.EqualFold(coding, "identity")
}

func isJSON(contentType string) bool {
	switch contentType {
	case "application/json", "application/json; charset=utf-8": // fast path for the usual values
		return true
	}
	media, params, err := mime.ParseMediaType(contentType)
	return err == nil && isUTF8(params) && (media == "application/json" ||
		strings.HasPrefix(media, "application/") && strings.HasSuffix(media, "+json"))
}

func isUTF8(params map[string]string) bool {
	charset, named := params["charset"]
	return !named || strings.EqualFold(charset, "utf-8") || strings.EqualFold(charset, "utf8")
}

// limitBody limits the body to limit bytes. It does nothing if limit is 0 or less.
func limitBody(r *http.Request, limit int64) *xerror.Error {
	if limit <= 0 {
		return nil
	}
	if r.ContentLength > limit {
		return xvalid.BindError(r.Context(), xvalid.Body, &http.MaxBytesError{Limit: limit})
	}
	r.Body = http.MaxBytesReader(nil, r.Body, limit)
	return nil
}

func (b *bodyBuffer) read(r *http.Request, s *Strictness) *xerror.Error {
	if err := limitBody(r, s.MaxBytes); err != nil {
		return err
	}
	// ReadFrom needs free space to detect EOF without growing the buffer
	b.buf.Grow(int(min(max(r.ContentLength, 0), maxPooled)) + bytes.MinRead)
	if _, err := b.buf.ReadFrom(r.Body); err != nil {
		return xvalid.BindError(r.Context(), xvalid.Body, err)
	}
	return nil
}

// decode decodes the buffer into dst, a pointer to the type of p.
func (b *bodyBuffer) decode(
	ctx context.Context, s *Strictness, p *plan, dst any,
) *xerror.Error {
	data := bytes.TrimLeft(b.buf.Bytes(), " \t\r\n")
	if len(data) == 0 {
		return newError(ctx, xerror.BodyEmpty, phrase.NoBody)
	}
	offset := b.buf.Len() - len(data)
	d := &b.scan
	d.reset(data, s)
	if !d.run(p) {
		return d.toError(ctx, offset)
	}
	d.data = data[:d.pos]
	if string(d.data) == "null" {
		return newError(ctx, xerror.BodyEmpty, msgNull)
	}
	if err := json.Unmarshal(d.data, dst); err != nil {
		return d.decodeError(ctx, offset, p, err)
	}
	return nil
}
