package e2e_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"regexp"
	"testing"
)

// maxSize is the maximum size of a page on the wire, in bytes.
const maxSize = 15 << 10

// listed matches the addresses of pages in llms.txt, without the suffix of Markdown.
var listed = regexp.MustCompile(`\]\((?:https?://[^/)]+)?(/docs/[^)#]*)\.md\)`)

// fetch sends a GET request that accepts gzip, and returns the bytes on the wire.
func fetch(t *testing.T, address string) (body []byte, header http.Header) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept-Encoding", "gzip")
	r.Header.Set("Accept", "text/html,*/*;q=0.8")
	response, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if body, err = io.ReadAll(response.Body); err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("GET %s = %s, %v", address, response.Status, err)
	}
	return body, response.Header
}

// pages returns the paths of all pages.
func pages(t *testing.T, s *server) []string {
	t.Helper()
	body, header := fetch(t, s.url("/llms.txt"))
	if header.Get("Content-Encoding") == "gzip" {
		body = unzip(t, body)
	}
	paths := []string{"/", "/search?q=database"}
	for _, match := range listed.FindAllSubmatch(body, -1) {
		paths = append(paths, string(match[1]))
	}
	if len(paths) < 20 {
		t.Fatalf("llms.txt names only %q", paths)
	}
	return paths
}

func unzip(t *testing.T, body []byte) []byte {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return plain
}

func TestPageWeight(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	s := start(t, binary(t))
	paths, largest, at := pages(t, s), 0, ""
	for _, path := range paths {
		body, header := fetch(t, s.url(path))
		if header.Get("Content-Encoding") != "gzip" {
			t.Errorf("%s is not compressed", path)
		}
		if len(body) > maxSize {
			t.Errorf("%s has %d bytes, want at most %d", path, len(body), maxSize)
		}
		if len(body) > largest {
			largest, at = len(body), path
		}
	}
	t.Logf("%d pages, the largest is %s with %d bytes", len(paths), at, largest)
}
