package page

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Values of Cache-Control.
const (
	revalidate = "no-cache"                            // cached, but revalidated on each use
	immutable  = "public, max-age=31536000, immutable" // the address contains a hash
)

// Content types.
const (
	typeHTML = "text/html; charset=utf-8"
	typeCSS  = "text/css; charset=utf-8"
	typeJS   = "text/javascript; charset=utf-8"
	typeSVG  = "image/svg+xml"
)

// resource is a file that is known in advance. Only its compressed form is stored.
type resource struct {
	contentType, cache, tag string
	packed                  []byte
}

func newResource(contentType, cache string, body []byte) *resource {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err == nil {
		_, _ = w.Write(body) // a buffer accepts everything
		_ = w.Close()
	}
	return &resource{contentType, cache, hash(body), b.Bytes()}
}

// hashLength is the number of hexadecimal digits of a hash.
const hashLength = 16

func hash(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])[:hashLength]
}

// ServeHTTP implements http.Handler for GET and HEAD, with conditions and compression.
func (s *resource) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", s.contentType)
	h.Set("Cache-Control", s.cache)
	h.Add("Vary", "Accept-Encoding")
	if !acceptsGzip(r.Header.Values("Accept-Encoding")) {
		h.Set("Etag", `"`+s.tag+`"`)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(s.body()))
		return
	}
	h.Set("Content-Encoding", "gzip")
	h.Set("Etag", `"`+s.tag+`-gzip"`) // a strong tag identifies one representation
	if r.Header.Get("Range") == "" {
		h.Set("Content-Length", strconv.Itoa(len(s.packed))) // ServeContent omits it
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(s.packed))
}

// body returns the uncompressed body.
func (s *resource) body() []byte {
	r, err := gzip.NewReader(bytes.NewReader(s.packed))
	if err != nil {
		return nil // written by newResource
	}
	body, _ := io.ReadAll(r) // written by newResource
	return body
}

// acceptsGzip reports whether Accept-Encoding allows gzip (RFC 9110, section 12.5.3).
func acceptsGzip(values []string) bool {
	accepted := false
	for item := range strings.SplitSeq(strings.ToLower(strings.Join(values, ",")), ",") {
		coding, parameters, _ := strings.Cut(item, ";")
		_, weight, weighted := strings.Cut(parameters, "q=")
		q, err := strconv.ParseFloat(strings.TrimSpace(weight), 64)
		allowed := !weighted || (err == nil && q > 0)
		switch strings.TrimSpace(coding) {
		case "gzip", "x-gzip":
			return allowed
		case "*":
			accepted = allowed
		}
	}
	return accepted
}
