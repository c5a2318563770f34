package blob_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/plinthgo/plinth/docs/internal/blob"
	"github.com/plinthgo/plinth/docs/internal/doctest"
)

var text = strings.Repeat("All work and no play makes a dull page. ", 100)

// forms are a handler of a body that is kept, and one that makes it anew for each answer.
func forms(text string) map[string]http.Handler {
	return map[string]http.Handler{
		"kept": blob.New("text/plain", blob.Revalidate, []byte(text)),
		"made anew": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			blob.Once(r, "text/plain", blob.Revalidate, []byte(text)).ServeHTTP(w, r)
		}),
	}
}

func TestABodyIsCompressedForThoseWhoTakeIt(t *testing.T) {
	tests := []struct{ name, accept, want string }{
		{"nothing said", "", ""},
		{"gzip", "gzip, deflate, br", "gzip"},
		{"any", "*", "gzip"},
		{"refused", "gzip;q=0", ""},
		{"refused beside any", "*, gzip; q=0", ""},
		{"weighted", "br;q=1.0, GZIP;q=0.8", "gzip"},
		{"others only", "br, identity", ""},
		{"a weight that is none", "gzip;q=much", ""},
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

func TestAKnownBodyIsNotSentAgain(t *testing.T) {
	others := forms(text + ".")
	for form, b := range forms(text) {
		tag := doctest.Get(t, b, "/", "Accept-Encoding", "gzip").Header().Get("Etag")
		if w := doctest.Get(t, b, "/", "Accept-Encoding", "gzip", "If-None-Match", tag); w.Code != http.StatusNotModified || w.Body.Len() != 0 {
			t.Errorf("%s: answer = %d with %d bytes", form, w.Code, w.Body.Len())
		}
		if w := doctest.Get(t, b, "/", "If-None-Match", tag); w.Code != http.StatusOK {
			t.Errorf("%s: the tag of the compressed form stood for the other: %d", form, w.Code)
		}
		if w := doctest.Get(t, others[form], "/", "Accept-Encoding", "gzip", "If-None-Match", tag); w.Code != http.StatusOK {
			t.Errorf("%s: another body has the same tag", form)
		}
	}
}

func TestAPartOfABodyIsSent(t *testing.T) {
	for form, b := range forms(text) {
		w := doctest.Get(t, b, "/", "Range", "bytes=4-7")
		if w.Code != http.StatusPartialContent || w.Body.String() != "work" {
			t.Errorf("%s: answer = %d %q", form, w.Code, w.Body)
		}
	}
}

func TestHeadHasTheHeaderOnly(t *testing.T) {
	b := blob.New("text/plain", blob.Immutable, bytes.Repeat([]byte("a"), 10))
	w := doctest.Do(t, b, http.MethodHead, "/")
	if w.Code != http.StatusOK || w.Body.Len() != 0 || w.Header().Get("Content-Length") != "10" || w.Header().Get("Cache-Control") != blob.Immutable {
		t.Errorf("answer = %d %v %q", w.Code, w.Header(), w.Body)
	}
}

func TestAnotherStatusIsNotCached(t *testing.T) {
	b := blob.New("text/html", blob.Revalidate, []byte(text))
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
	r.Header.Set("If-None-Match", "*")
	w := httptest.NewRecorder()
	b.ServeStatus(w, r, http.StatusNotFound)
	if w.Code != http.StatusNotFound || w.Body.String() != text || w.Header().Get("Cache-Control") != "no-store" || w.Header().Get("Etag") != "" {
		t.Errorf("answer = %d %v", w.Code, w.Header())
	}
}
