// Package blob serves a body that is known beforehand: compressed once, with an entity
// tag, so that a browser asks for it again without receiving it again. Only the
// compressed form is kept; for the rare client that does not take it, it is expanded.
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
	Revalidate = "no-cache" // kept, but asked for each time
	// of an address that holds the hash of its content
	Immutable = "public, max-age=31536000, immutable"
)

// minCompressed is the size in bytes under which compression saves nothing worth a
// header.
const minCompressed = 512

// A Blob is a body in the forms in which it is sent. It never changes and may serve
// several requests at once.
type Blob struct {
	contentType string
	cache       string
	tag         string
	varies      bool   // with what the client accepts
	body        []byte // nil where packed is kept
	packed      []byte // in gzip; nil where that is no smaller, or not asked for
}

// New makes a blob to be kept: its body is made as small as can be. The body may be kept
// and must not change.
func New(contentType, cacheControl string, body []byte) *Blob {
	b := newBlob(contentType, cacheControl, body)
	b.pack(&smallest)
	b.varies = b.packed != nil
	return b
}

// Once makes a blob for the answer to r alone. It is compressed only where r takes that,
// and without spending long on it.
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

// pack puts the compressed form in the place of the body, where it is smaller.
func (b *Blob) pack(writers *sync.Pool) {
	if b.packed = compress(writers, b.body); b.packed != nil {
		b.body = nil
	}
}

// Body is the body as it was given.
func (b *Blob) Body() []byte {
	if b.packed == nil {
		return b.body
	}
	r, err := gzip.NewReader(bytes.NewReader(b.packed))
	if err != nil {
		return nil // compress has written it
	}
	body, _ := io.ReadAll(r) // as above
	return body
}

// ServeHTTP implements http.Handler for GET and HEAD, with ranges, conditions and
// compression (RFC 9110).
func (b *Blob) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body := b.header(w, r)
	// that alone makes ServeContent answer without a body and keep the length
	if r.Header.Get("If-Match") == "" {
		// which it leaves out where the body is compressed
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
}

// ServeStatus sends the body with a status other than 200, which is neither cached nor
// served in parts.
func (b *Blob) ServeStatus(w http.ResponseWriter, r *http.Request, status int) {
	body := b.header(w, r)
	w.Header().Del("Etag")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // an error is the reader's going away
	}
}

// header sets what describes the body, and returns the form of it that the client takes.
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
	h.Set("Etag", `"`+b.tag+`-gzip"`) // a strong tag names one representation
	return b.packed
}

// acceptsGzip reads Accept-Encoding: gzip, or any coding, with a weight other than 0.
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

// Writers are used again: each has tables of nearly a megabyte.
var (
	smallest = sync.Pool{New: func() any { return newWriter(gzip.BestCompression) }}
	quick    = sync.Pool{New: func() any { return newWriter(gzip.DefaultCompression) }}
)

func newWriter(level int) any {
	w, err := gzip.NewWriterLevel(io.Discard, level)
	if err != nil {
		return nil // the levels are constants, and valid
	}
	return w
}

// compress returns the body in gzip, or nil where that is not smaller.
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
