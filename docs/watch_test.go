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

// events returns the events that a browser receives within a second, if it sends the ID
// of the last event.
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

func TestSite_Watch_Reconnect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		site := open(t, docs.WithFolder(folder(t)))
		first := regexp.MustCompile(`^retry: 500\nid: (\d+)\n\n$`).FindStringSubmatch(events(t,
			site, ""))
		if first == nil {
			t.Fatal("a new browser received a change or no ID")
		}
		if got := events(t, site, first[1]); got != first[0] {
			t.Errorf("got events %q without a change", got)
		}
		if got, want := events(t, site, "1"), "id: "+first[1]+"\ndata: changed\n\n"; got != want {
			t.Errorf("events = %q, want %q", got, want)
		}
	})
}

// shows waits until a page of the site contains a text.
func shows(t *testing.T, site http.Handler, path, want string) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); <-time.After(
		20 * time.Millisecond) {
		if strings.Contains(doctest.Get(t, site, path).Body.String(), want) {
			return
		}
	}
	t.Fatalf("%s does not contain %q", path, want)
}

const changedPage = "---\ntitle: Start\ndescription: First steps.\n---\n\nAfter.\n"

func TestSite_Watch_Directory(t *testing.T) {
	t.Run("may be a link", func(t *testing.T) {
		dir, link := folder(t), filepath.Join(t.TempDir(), "link")
		if err := os.Symlink(dir, link); err != nil {
			t.Fatal(err)
		}
		site := open(t, docs.WithFolder(link))
		defer watch(t, site)()
		shows(t, site, "/docs/guide/start.md", "Before.")
		write(t, dir, "guide/more.md",
			"---\ntitle: More\ndescription: Further steps.\n---\n\nFirst.\n")
		shows(t, site, "/docs/guide/more.md", "First.") // Watch may have read it at its start
		write(t, dir, "guide/start.md", changedPage)
		shows(t, site, "/docs/guide/start.md", "After.")
	})

	t.Run("is read during continuous changes", func(t *testing.T) {
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
		<-time.After(300 * time.Millisecond) // Watch has started and seen changes
		write(t, dir, "guide/start.md", changedPage)
		shows(t, site, "/docs/guide/start.md", "After.")
	})

	t.Run("is ignored if hidden", func(t *testing.T) {
		dir := folder(t)
		write(t, dir, ".git/HEAD", "one")
		site := open(t, docs.WithFolder(dir))
		defer watch(t, site)()
		write(t, dir, "guide/start.md", changedPage)
		shows(t, site, "/docs/guide/start.md", "After.") // Watch has started
		latest := quiet(t, site)
		write(t, dir, ".git/HEAD", "two")
		if got := events(t, site, latest); strings.Contains(got, "changed") {
			t.Errorf("got events %q for a change in a hidden directory", got)
		}
	})
}

func TestSite_Watch_Log(t *testing.T) {
	t.Run("invalid content", func(t *testing.T) {
		dir := folder(t)
		site := open(t, docs.WithFolder(dir))
		write(t, dir, "guide/start.md", "no front matter")
		before := slog.Default()
		defer slog.SetDefault(before)
		var log strings.Builder
		slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := site.Watch(ctx); err != nil ||
			!strings.Contains(log.String(), "documentation not reloaded") {
			t.Errorf("error = %v, log:\n%s", err, log.String())
		}
	})

	t.Run("each fault once", func(t *testing.T) {
		dir := folder(t)
		write(t, dir, "guide/a b.md", changedPage)
		before := slog.Default()
		defer slog.SetDefault(before)
		var log strings.Builder // read after Watch has returned
		slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
		site := open(t, docs.WithFolder(dir))
		if _, err := site.Check(nil); err != nil || log.Len() > 0 {
			t.Errorf("error = %v, log of New and Check:\n%s", err, log.String())
		}
		stop := watch(t, site)
		write(t, dir, "guide/start.md", changedPage)
		shows(t, site, "/docs/guide/start.md", "After.") // Watch has started
		write(t, dir, "guide/c d.md", changedPage)
		write(t, dir, "guide/start.md", strings.Replace(changedPage, "After", "Later", 1))
		shows(t, site, "/docs/guide/start.md", "Later.")
		stop()
		for _, name := range []string{"a b", "c d"} {
			if count := strings.Count(log.String(), `file="guide/`+name+`.md"`); count != 1 {
				t.Errorf("%q is logged %d times, want once:\n%s", name, count, log.String())
			}
		}
	})
}

// quiet waits until a second passes without a change, and returns the ID of the last
// change.
func quiet(t *testing.T, site http.Handler) string {
	t.Helper()
	id := regexp.MustCompile(`(?m)^id: (\d+)\n\n\z`)
	for range 20 {
		if found := id.FindStringSubmatch(events(t, site, "")); found != nil {
			return found[1]
		}
	}
	t.Fatal("the directory keeps changing")
	return ""
}
