package docs_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"regexp"
	"testing"
	"testing/synctest"
	"time"

	xDocs "github.com/plinthgo/plinth/docs"
)

// events is what a browser is sent within a second when it comes with the id of an event.
func events(t *testing.T, site http.Handler, id string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/api/reload", nil)
	if id != "" {
		r.Header.Set("Last-Event-ID", id)
	}
	w := httptest.NewRecorder()
	site.ServeHTTP(w, r)
	return w.Body.String()
}

func TestABrowserThatComesBackIsToldWhatItMissed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		site := open(t, xDocs.WithFolder(folder(t)))
		first := regexp.MustCompile(`^retry: 500\nid: (\d+)\n\n$`).FindStringSubmatch(events(t, site, ""))
		if first == nil {
			t.Fatal("a new browser is told of a change, or of no id")
		}
		if got := events(t, site, first[1]); got != first[0] {
			t.Errorf("nothing has changed, and the events are %q", got)
		}
		if got, want := events(t, site, "1"), "id: "+first[1]+"\ndata: changed\n\n"; got != want {
			t.Errorf("events = %q, want %q", got, want)
		}
	})
}
