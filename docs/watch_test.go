package docs_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plinthgo/plinth/docs"
	"github.com/plinthgo/plinth/docs/internal/doctest"
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
		site := open(t, docs.WithFolder(folder(t)))
		first := regexp.MustCompile(`^retry: 500\nid: (\d+)\n\n$`).FindStringSubmatch(events(t,
			site, ""))
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

// shows waits until a page of the site has a text.
func shows(t *testing.T, site http.Handler, path, want string) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); <-time.After(
		20 * time.Millisecond) {
		if strings.Contains(doctest.Get(t, site, path).Body.String(), want) {
			return
		}
	}
	t.Fatalf("%s does not show %q", path, want)
}

const changedPage = "---\ntitle: Start\ndescription: First steps.\n---\n\nAfter.\n"

func TestAFolderBehindALinkIsWatched(t *testing.T) {
	dir, link := folder(t), filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	site := open(t, docs.WithFolder(link))
	defer watch(t, site)()
	shows(t, site, "/docs/guide/start.md", "Before.")
	write(t, dir, "guide/more.md", "---\ntitle: More\ndescription: Further steps.\n---\n\nFirst.\n")
	shows(t, site, "/docs/guide/more.md", "First.") // which Watch can have read when it began
	write(t, dir, "guide/start.md", changedPage)
	shows(t, site, "/docs/guide/start.md", "After.")
}

func TestAFolderThatIsNeverQuietIsRead(t *testing.T) {
	dir := folder(t)
	site := open(t, docs.WithFolder(dir))
	defer watch(t, site)()
	noise, done := time.NewTicker(2*time.Millisecond), make(chan struct{})
	var writing sync.WaitGroup
	writing.Go(func() {
		for {
			select {
			case <-noise.C:
				write(t, dir, "guide/x.log", time.Now().String())
			case <-done:
				return
			}
		}
	})
	defer writing.Wait()
	defer close(done)
	defer noise.Stop()
	<-time.After(300 * time.Millisecond) // Watch has begun, and seen noise
	write(t, dir, "guide/start.md", changedPage)
	shows(t, site, "/docs/guide/start.md", "After.")
}

func TestContentThatIsBrokenWhenWatchBeginsIsLogged(t *testing.T) {
	dir := folder(t)
	site := open(t, docs.WithFolder(dir))
	write(t, dir, "guide/start.md", "no front matter")
	before := slog.Default()
	defer slog.SetDefault(before)
	var log strings.Builder
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := site.Watch(ended); err != nil ||
		!strings.Contains(log.String(), "cannot be read; what was shown before stays") {
		t.Errorf("error = %v, log:\n%s", err, log.String())
	}
}

func TestAFaultIsLoggedOnce(t *testing.T) {
	dir := folder(t)
	write(t, dir, "guide/a b.md", changedPage)
	before := slog.Default()
	defer slog.SetDefault(before)
	var log strings.Builder // read when nothing is watched any more
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
	site := open(t, docs.WithFolder(dir))
	if _, err := site.Check(nil); err != nil || log.Len() > 0 {
		t.Errorf("error = %v, log of New and Check:\n%s", err, log.String())
	}
	stop := watch(t, site)
	write(t, dir, "guide/start.md", changedPage)
	shows(t, site, "/docs/guide/start.md", "After.") // Watch has begun
	write(t, dir, "guide/c d.md", changedPage)
	write(t, dir, "guide/start.md", strings.Replace(changedPage, "After", "Later", 1))
	shows(t, site, "/docs/guide/start.md", "Later.")
	stop()
	for _, name := range []string{"a b", "c d"} {
		if told := strings.Count(log.String(), `file="guide/`+name+`.md"`); told != 1 {
			t.Errorf("%q is told of %d times, want once:\n%s", name, told, log.String())
		}
	}
}

func TestAHiddenFolderIsNotWatched(t *testing.T) {
	dir := folder(t)
	write(t, dir, ".git/HEAD", "one")
	site := open(t, docs.WithFolder(dir))
	defer watch(t, site)()
	write(t, dir, "guide/start.md", changedPage)
	shows(t, site, "/docs/guide/start.md", "After.") // Watch has begun
	latest := quiet(t, site)
	write(t, dir, ".git/HEAD", "two")
	if got := events(t, site, latest); strings.Contains(got, "changed") {
		t.Errorf("events = %q for a change in a hidden folder", got)
	}
}

// quiet waits until a second goes by without a change, and returns the id of the latest
// one.
func quiet(t *testing.T, site http.Handler) string {
	t.Helper()
	id := regexp.MustCompile(`(?m)^id: (\d+)\n\n\z`)
	for range 20 {
		if found := id.FindStringSubmatch(events(t, site, "")); found != nil {
			return found[1]
		}
	}
	t.Fatal("the folder is never quiet")
	return ""
}
