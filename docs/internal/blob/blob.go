// Package blob serves a body that is known in advance. The body is compressed once and
// has an entity tag, so that clients can revalidate it. Only the compressed form is
// stored; it is decompressed for clients that do not accept gzip.
package blob

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/plinthgo/plinth/docs/internal/accept"
)

// Values of Cache-Control.
const (
	Revalidate = "no-cache" // cached, but revalidated on each use
	// Immutable is for addresses that contain a hash of the content.
	Immutable = "public, max-age=31536000, immutable"
)

// minCompressed is the minimal size in bytes of a compressed body.
const minCompressed = 512

// A Blob is a body with its headers. It is immutable and safe for concurrent use.
type Blob struct {
	contentType string
	cache       string
	tag         string
	varies      bool   // depends on Accept-Encoding
	body        []byte // nil if packed is set
	packed      []byte // gzip; nil if not smaller or not requested
}

// New returns a blob with the best compression. The caller must not change the body
// afterwards.
func New(contentType, cacheControl string, body []byte) *Blob {
	b := newBlob(contentType, cacheControl, body)
	b.pack(&smallest)
	b.varies = b.packed != nil
	return b
}

// Once returns a blob for the response to r alone. It uses fast compression, and only if
// r accepts gzip.
func Once(r *http.Request, contentType, cacheControl string, body []byte) *Blob {
	b := newBlob(contentType, cacheControl, body)
	if b.varies = len(body) >= minCompressed; b.varies &&
		acceptsGzip(r.Header.Values("Accept-Encoding")) {
		b.pack(&quick)
	}
	return b
}

func newBlob(contentType, cacheControl string, body []byte) *Blob {
	sum := sha256.Sum256(body)
	return &Blob{
		contentType: contentType, cache: cacheControl,
		tag: base64.RawURLEncoding.EncodeToString(sum[:12]), body: body,
	}
}

// pack replaces the body by its compressed form if that is smaller.
func (b *Blob) pack(writers *sync.Pool) {
	if b.packed = compress(writers, b.body); b.packed != nil {
		b.body = nil
	}
}

// Body returns the uncompressed body.
func (b *Blob) Body() []byte {
	if b.packed == nil {
		return b.body
	}
	r, err := gzip.NewReader(bytes.NewReader(b.packed))
	if err != nil {
		return nil // written by compress
	}
	body, _ := io.ReadAll(r) // written by compress
	return body
}

// ServeHTTP implements http.Handler for GET and HEAD, with ranges, conditions and
// compression (RFC 9110).
func (b *Blob) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body := b.header(w, r)
	// ServeContent then writes no body and keeps the length
	if r.Header.Get("If-Match") == "" {
		// ServeContent omits the length of an encoded body
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
}

// ServeStatus sends the body with a status other than 200. The response is not cached and
// ignores ranges.
func (b *Blob) ServeStatus(w http.ResponseWriter, r *http.Request, status int) {
	body := b.header(w, r)
	w.Header().Del("Etag")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // the client disconnected
	}
}

// header sets the headers of the body, and returns the form that the client accepts.
func (b *Blob) header(w http.ResponseWriter, r *http.Request) []byte {
	h := w.Header()
	h.Set("Content-Type", b.contentType)
	h.Set("Cache-Control", b.cache)
	if b.varies {
		h.Add("Vary", "Accept-Encoding")
	}
	if b.packed == nil || !acceptsGzip(r.Header.Values("Accept-Encoding")) {
		h.Set("Etag", `"`+b.tag+`"`)
		return b.Body()
	}
	h.Set("Content-Encoding", "gzip")
	h.Set("Etag", `"`+b.tag+`-gzip"`) // a strong tag identifies one representation
	return b.packed
}

// acceptsGzip reports whether Accept-Encoding allows gzip.
func acceptsGzip(values []string) bool {
	accepted := false
	for coding, q := range accept.Items(values) {
		switch coding {
		case "gzip", "x-gzip":
			return q > 0
		case "*":
			accepted = q > 0
		}
	}
	return accepted
}

// Writers are pooled, because each has tables of about 1 MB.
var (
	smallest = sync.Pool{New: func() any { return newWriter(gzip.BestCompression) }}
	quick    = sync.Pool{New: func() any { return newWriter(gzip.DefaultCompression) }}
)

func newWriter(level int) any {
	w, err := gzip.NewWriterLevel(io.Discard, level)
	if err != nil {
		return nil // the levels are valid constants
	}
	return w
}

// compress returns the body in gzip, or nil if that is not smaller.
func compress(writers *sync.Pool, body []byte) []byte {
	if len(body) < minCompressed {
		return nil
	}
	var b bytes.Buffer
	w, ok := writers.Get().(*gzip.Writer)
	if !ok {
		return nil
	}
	defer writers.Put(w)
	w.Reset(&b)
	if _, err := w.Write(body); err != nil || w.Close() != nil || b.Len() >= len(body) {
		return nil
	}
	return b.Bytes()
}
