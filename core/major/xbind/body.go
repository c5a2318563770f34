package xbind

import (
	"bytes"
	"context"
	"encoding/json"
	"mime"
	"net/http"
	"reflect"
	"strings"
	"sync"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xvalid"
	"github.com/plinthgo/plinth/core/internal/phrase"
)

// maxKept is the largest buffer that is kept for the next request, and the most that a
// declared length reserves. Beyond that a buffer grows with what has really arrived.
const maxKept = 64 << 10

// work is what one body needs and the next can use again.
type work struct {
	buf  bytes.Buffer
	scan scanner
}

var works = sync.Pool{New: func() any { return new(work) }}

func (w *work) release() {
	if w.buf.Cap() <= 2*maxKept {
		w.buf.Reset()
		works.Put(w)
	}
}

// readBody reads and decodes the JSON body, and reports what is wrong with it. What is
// decoded shares no memory with the buffer: encoding/json copies strings and
// json.RawMessage, and its contract has UnmarshalJSON copy what it keeps.
func readBody[T any](c *gin.Context, s Strictness, dst *T) bool {
	w, _ := works.Get().(*work)
	defer w.release()
	err := checkHead(c.Request, &s)
	if err == nil {
		err = w.read(c.Request, &s)
	}
	if err == nil {
		err = w.decode(c.Request.Context(), &s, reflect.TypeFor[T](), dst)
	}
	return err == nil || report(c, err)
}

// checkHead accepts a body of JSON in UTF-8 without a content coding.
func checkHead(r *http.Request, s *Strictness) *xerror.Error {
	switch {
	case isEmpty(r):
		return refuse(r.Context(), xerror.BodyEmpty, phrase.NoBody)
	case s.AllowAnyContentType:
		return nil
	case isEncoded(r):
		return refuse(r.Context(), xerror.UnsupportedMedia, textEncoding)
	case !isJSON(r.Header.Get("Content-Type")):
		return refuse(r.Context(), xerror.UnsupportedMedia, textMedia)
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
	case "application/json", "application/json; charset=utf-8": // what most clients send
		return true
	}
	media, params, err := mime.ParseMediaType(contentType)
	return err == nil && isUTF8(params) && (media == "application/json" ||
		strings.HasPrefix(media, "application/") && strings.HasSuffix(media, "+json"))
}

// isUTF8 reports whether the parameters of a media type name no other character set.
func isUTF8(params map[string]string) bool {
	charset, named := params["charset"]
	return !named || strings.EqualFold(charset, "utf-8") || strings.EqualFold(charset, "utf8")
}

// limitBody makes the body fail after limit bytes; 0 is no limit.
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

// read fills the buffer with the body.
func (w *work) read(r *http.Request, s *Strictness) *xerror.Error {
	if err := limitBody(r, s.MaxBytes); err != nil {
		return err
	}
	// ReadFrom sees the end in the rest
	w.buf.Grow(int(min(max(r.ContentLength, 0), maxKept)) + bytes.MinRead)
	if _, err := w.buf.ReadFrom(r.Body); err != nil {
		return xvalid.BindError(r.Context(), xvalid.Body, err)
	}
	return nil
}

// decode fills dst, a pointer to t, from the buffer.
func (w *work) decode(ctx context.Context, s *Strictness, t reflect.Type, dst any) *xerror.Error {
	data := bytes.TrimLeft(w.buf.Bytes(), " \t\r\n")
	if len(data) == 0 {
		return refuse(ctx, xerror.BodyEmpty, phrase.NoBody)
	}
	offset := w.buf.Len() - len(data)
	d, p := &w.scan, planOf(t)
	d.begin(data, s)
	if !d.run(p) {
		return d.explain(ctx, offset)
	}
	d.data = data[:d.pos]
	if string(d.data) == "null" {
		return refuse(ctx, xerror.BodyEmpty, textNull)
	}
	if err := json.Unmarshal(d.data, dst); err != nil {
		return d.explainDecode(ctx, offset, p, err)
	}
	return nil
}
