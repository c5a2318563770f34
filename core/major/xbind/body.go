package xbind

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"sync"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xvalid"
)

const (
	// startBuffer is the size of a new buffer; a body that says to be larger gets what it says, up to
	// maxKept. Beyond that a buffer grows with what has really arrived.
	startBuffer = 1 << 10

	// maxKept is the largest buffer that is kept for the next request.
	maxKept = 64 << 10
)

// work is what one body needs and the next can use again.
type work struct {
	buf  []byte
	scan scanner
}

var works = sync.Pool{New: func() any { return &work{buf: make([]byte, 0, startBuffer)} }}

func (w *work) release() {
	w.scan.reset()
	if cap(w.buf) <= maxKept {
		w.buf = w.buf[:0]
		works.Put(w)
	}
}

// readBody reads and decodes the JSON body, and reports what is wrong with it. What is decoded shares no
// memory with the buffer: encoding/json copies strings and json.RawMessage, and its contract has
// UnmarshalJSON copy what it keeps.
func readBody[T any](c *gin.Context, s Strictness, dst *T) bool {
	if err := checkHead(c.Request, &s); err != nil {
		return report(c, err)
	}
	w, _ := works.Get().(*work)
	defer w.release()
	err := w.read(c.Request, s.MaxBytes)
	if err == nil {
		err = w.decode(c.Request.Context(), &s, reflect.TypeFor[T](), dst)
	}
	return err == nil || report(c, err)
}

// checkHead accepts a body of JSON in UTF-8 without a content coding.
func checkHead(r *http.Request, s *Strictness) *xerror.Error {
	if isEmpty(r) {
		return xerror.New(xerror.BodyEmpty, say(r.Context(), textEmpty, ""))
	}
	if s.AllowAnyContentType {
		return nil
	}
	if coding := r.Header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return xerror.New(xerror.UnsupportedMedia, say(r.Context(), textEncoding, ""))
	}
	if !isJSON(r.Header.Get("Content-Type")) {
		return xerror.New(xerror.UnsupportedMedia, say(r.Context(), textMedia, ""))
	}
	return nil
}

func isJSON(contentType string) bool {
	switch contentType {
	case "application/json", "application/json; charset=utf-8": // what most clients send
		return true
	}
	media, params, err := mime.ParseMediaType(contentType)
	if err != nil {
		return false
	}
	if charset, ok := params["charset"]; ok && !strings.EqualFold(charset, "utf-8") && !strings.EqualFold(charset, "utf8") {
		return false
	}
	return media == "application/json" ||
		strings.HasPrefix(media, "application/") && strings.HasSuffix(media, "+json")
}

// read fills the buffer with the body, of which at most limit bytes are accepted; 0 is no limit.
func (w *work) read(r *http.Request, limit int64) *xerror.Error {
	if limit > 0 && r.ContentLength > limit {
		return tooLarge(r.Context(), limit)
	}
	if n := r.ContentLength; n >= int64(cap(w.buf)) && n < maxKept {
		w.buf = make([]byte, 0, n+1) // one more, so that the end is seen without growing
	}
	for {
		if len(w.buf) == cap(w.buf) {
			w.grow(r.ContentLength)
		}
		n, err := r.Body.Read(w.buf[len(w.buf):cap(w.buf)])
		w.buf = w.buf[:len(w.buf)+n]
		if limit > 0 && int64(len(w.buf)) > limit {
			return tooLarge(r.Context(), limit)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return xvalid.BindError(r.Context(), xvalid.Body, err)
		}
	}
}

// grow doubles the buffer, or gives it the declared length if less is left, with one byte more.
func (w *work) grow(declared int64) {
	size := 2 * cap(w.buf)
	if declared >= int64(cap(w.buf)) && declared < int64(size) {
		size = int(declared) + 1
	}
	buf := make([]byte, len(w.buf), size)
	copy(buf, w.buf)
	w.buf = buf
}

func tooLarge(ctx context.Context, limit int64) *xerror.Error {
	return xerror.New(xerror.PayloadTooLarge, say(ctx, textTooLarge, strconv.FormatInt(limit, 10)))
}

// decode fills dst, a pointer to t, from the buffer.
func (w *work) decode(ctx context.Context, s *Strictness, t reflect.Type, dst any) *xerror.Error {
	data := bytes.TrimLeft(w.buf, " \t\r\n")
	if len(data) == 0 {
		return xerror.New(xerror.BodyEmpty, say(ctx, textEmpty, ""))
	}
	offset := len(w.buf) - len(data)
	d := &w.scan
	d.begin(data, s)
	if !d.run(planOf(t)) && d.fault != faultSyntax {
		return d.explain(ctx, offset)
	}
	if d.fault == faultNone {
		data = data[:d.pos]
		if string(data) == "null" {
			return xerror.New(xerror.BodyEmpty, say(ctx, textNull, ""))
		}
	}
	if err := json.Unmarshal(data, dst); err != nil {
		return explainDecode(ctx, data, offset, t, err)
	}
	if d.fault == faultSyntax { // what only one of two readers accepts is not accepted
		return d.explain(ctx, offset)
	}
	return nil
}
