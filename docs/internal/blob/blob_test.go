package blob_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/plinthgo/plinth/docs/internal/blob"
	"github.com/plinthgo/plinth/docs/internal/doctest"
)

var text = strings.Repeat("All work and no play makes a dull page. ", 100)

// forms returns a handler with a stored body, and a handler that creates the body for
// each response.
func forms(text string) map[string]http.Handler {
	return map[string]http.Handler{
		"stored": blob.New("text/plain", blob.Revalidate, []byte(text)),
		"per response": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			blob.Once(r, "text/plain", blob.Revalidate, []byte(text)).ServeHTTP(w, r)
		}),
	}
}

func TestBlob_Compression(t *testing.T) {
	tests := []struct{ name, accept, want string }{
		{"no header", "", ""},
		{"gzip", "gzip, deflate, br", "gzip"},
		{"any", "*", "gzip"},
		{"rejected", "gzip;q=0", ""},
		{"rejected, others allowed", "*, gzip; q=0", ""},
		{"weighted", "br;q=1.0, GZIP;q=0.8", "gzip"},
		{"others only", "br, identity", ""},
		{"invalid weight", "gzip;q=much", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for form, b := range forms(text) {
				w := doctest.Get(t, b, "/", "Accept-Encoding", tt.accept)
				if got := w.Header().Get("Content-Encoding"); got != tt.want {
					t.Errorf("%s: encoding = %q, want %q", form, got, tt.want)
				}
				if got := unpacked(t, w); got != text {
					t.Errorf("%s: body = %.40q…", form, got)
				}
				if got := w.Header().Get("Vary"); got != "Accept-Encoding" {
					t.Errorf("%s: Vary = %q", form, got)
				}
			}
		})
	}
}

func unpacked(t *testing.T, w *httptest.ResponseRecorder) string {
	t.Helper()
	var body io.Reader = w.Body
	if w.Header().Get("Content-Encoding") == "gzip" {
		r, err := gzip.NewReader(w.Body)
		if err != nil {
			t.Fatal(err)
		}
		body = r
	}
	data, err := io.ReadAll(body)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestBlob_ServeHTTP(t *testing.T) {
	t.Run("responds 304 to a known tag", func(t *testing.T) {
		others := forms(text + ".")
		for form, b := range forms(text) {
			tag := doctest.Get(t, b, "/", "Accept-Encoding", "gzip").Header().Get("Etag")
			if w := doctest.Get(t, b, "/", "Accept-Encoding", "gzip", "If-None-Match",
				tag); w.Code != http.StatusNotModified || w.Body.Len() != 0 {
				t.Errorf("%s: response = %d with %d bytes", form, w.Code, w.Body.Len())
			}
			if w := doctest.Get(t, b, "/", "If-None-Match", tag); w.Code != http.StatusOK {
				t.Errorf("%s: status = %d for the tag of the compressed form, want 200", form, w.Code)
			}
			if w := doctest.Get(t, others[form], "/", "Accept-Encoding", "gzip", "If-None-Match",
				tag); w.Code != http.StatusOK {
				t.Errorf("%s: another body has the same tag", form)
			}
		}
	})

	t.Run("serves ranges", func(t *testing.T) {
		for form, b := range forms(text) {
			w := doctest.Get(t, b, "/", "Range", "bytes=4-7")
			if w.Code != http.StatusPartialContent || w.Body.String() != "work" {
				t.Errorf("%s: response = %d %q", form, w.Code, w.Body)
			}
		}
	})

	t.Run("serves HEAD", func(t *testing.T) {
		b := blob.New("text/plain", blob.Immutable, bytes.Repeat([]byte("a"), 10))
		w := doctest.Do(t, b, http.MethodHead, "/")
		if w.Code != http.StatusOK || w.Body.Len() != 0 || w.Header().Get("Content-Length") != "10" ||
			w.Header().Get("Cache-Control") != blob.Immutable {
			t.Errorf("response = %d %v %q", w.Code, w.Header(), w.Body)
		}
	})
}

func TestBlob_ContentLength(t *testing.T) {
	// the compressed form exceeds the buffer of the server
	var noise strings.Builder
	random := rand.New(rand.NewPCG(1, 2))
	for range 1 << 10 {
		fmt.Fprintf(&noise, "%016x", random.Uint64())
	}
	tests := []struct {
		name, method, header, value string
		want                        int
	}{
		{"whole body", http.MethodGet, "", "", http.StatusOK},
		{"HEAD", http.MethodHead, "", "", http.StatusOK},
		{"a range", http.MethodGet, "Range", "bytes=4-7", http.StatusPartialContent},
		{"HEAD with a range", http.MethodHead, "Range", "bytes=4-7", http.StatusPartialContent},
		{"two ranges", http.MethodGet, "Range", "bytes=4-7,9-9", http.StatusPartialContent},
		{"ranges larger than the body", http.MethodGet, "Range", "bytes=0-,0-", http.StatusOK},
		{
			"a range outside the body", http.MethodGet, "Range", "bytes=99999-",
			http.StatusRequestedRangeNotSatisfiable,
		},
		{"known tag", http.MethodGet, "If-None-Match", "*", http.StatusNotModified},
		{"failed precondition", http.MethodGet, "If-Match", `"x"`, http.StatusPreconditionFailed},
	}
	for form, b := range forms(noise.String()) {
		server := httptest.NewServer(b)
		t.Cleanup(server.Close)
		for _, tt := range tests {
			t.Run(form+", "+tt.name, func(t *testing.T) {
				status, length, sent := exchange(t, tt.method, server.URL, "Accept-Encoding",
					"gzip", tt.header, tt.value)
				if status != tt.want || length < 0 || tt.method != http.MethodHead &&
					length != sent {
					t.Errorf("response = %d with %d bytes of %d, want %d",
						status, sent, length, tt.want)
				}
			})
		}
	}
}

// exchange sends a request over a connection. It returns Content-Length, or -1 without
// the header, and the number of bytes of the body.
func exchange(t *testing.T, method, url string, header ...string) (status int, length, sent int64) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		if header[i] != "" {
			r.Header.Set(header[i], header[i+1])
		}
	}
	response, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	sent, err = io.Copy(io.Discard, response.Body)
	if err := errors.Join(err, response.Body.Close()); err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, response.ContentLength, sent
}

func TestBlob_ServeStatus(t *testing.T) {
	b := blob.New("text/html", blob.Revalidate, []byte(text))
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
	r.Header.Set("If-None-Match", "*")
	w := httptest.NewRecorder()
	b.ServeStatus(w, r, http.StatusNotFound)
	if w.Code != http.StatusNotFound || w.Body.String() != text ||
		w.Header().Get("Cache-Control") != "no-store" || w.Header().Get("Etag") != "" {
		t.Errorf("response = %d %v", w.Code, w.Header())
	}
}
