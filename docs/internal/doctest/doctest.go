// Package doctest provides documentations and requests for tests.
package doctest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"testing/fstest"

	"github.com/plinthgo/plinth/docs/internal/page"
)

// Files returns a file system with the files, given as content by name.
func Files(contents map[string]string) fstest.MapFS {
	files := fstest.MapFS{}
	for name, text := range contents {
		files[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return files
}

// Page returns the text of a page with a title and a description derived from it.
func Page(title, body string) string {
	return fmt.Sprintf("---\ntitle: %s\ndescription: About %s.\n---\n\n%s\n", title, title, body)
}

// Library loads documentation from the files, given as content by name.
func Library(tb testing.TB, contents map[string]string) *page.Library {
	tb.Helper()
	l, err := page.Load(Files(contents))
	if err != nil {
		tb.Fatal(err)
	}
	return l
}

// RealLibrary loads the content of this module, for tests of packages directly below
// internal.
func RealLibrary(tb testing.TB) *page.Library {
	tb.Helper()
	l, err := page.Load(os.DirFS("../../content"))
	if err != nil {
		tb.Fatal(err)
	}
	return l
}

// Get sends a GET request to a handler. The argument header alternates names and values.
func Get(tb testing.TB, h http.Handler, url string, header ...string) *httptest.ResponseRecorder {
	tb.Helper()
	return Do(tb, h, http.MethodGet, url, header...)
}

// Do sends a request with any method.
func Do(
	tb testing.TB, h http.Handler, method, url string, header ...string,
) *httptest.ResponseRecorder {
	tb.Helper()
	r := httptest.NewRequestWithContext(tb.Context(), method, url, nil)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}
