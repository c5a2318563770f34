package docs

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/plinthgo/plinth/docs/internal/page"
)

// quietPeriod is the time without changes before the directory is read. Editors write a
// file in several steps.
const quietPeriod = 100 * time.Millisecond

// maxDelay is the maximum delay of a reload.
const maxDelay = time.Second

// retryInterval is the interval of attempts to watch a removed directory.
const retryInterval = 2 * time.Second

// Watch reloads the directory of WithFolder on each change and notifies browsers, until
// ctx is done. If the content cannot be loaded, it logs the error and the site keeps the
// previous content. It also logs new faults. Watch returns nil if there is no directory
// or ctx is done, and an error if the directory cannot be watched. It may run
// concurrently with other methods, but only once at a time.
func (s *Site) Watch(ctx context.Context) error {
	if s.config.folder == "" {
		return nil
	}
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("docs: watch %s: %w", s.config.folder, err)
	}
	defer func() { _ = watcher.Close() }()
	if err := watchAll(watcher, s.config.folder); err != nil {
		return fmt.Errorf("docs: watch %s: %w", s.config.folder, err)
	}
	faults := s.update(ctx, nil) // changes since New
	quiet := time.NewTimer(quietPeriod)
	quiet.Stop()
	var latest time.Time // deadline for reading a change
	changed := func() {
		if latest.IsZero() {
			latest = time.Now().Add(maxDelay)
		}
		quiet.Reset(min(quietPeriod, time.Until(latest)))
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-watcher.Events:
			changed()
		case err := <-watcher.Errors:
			slog.WarnContext(ctx, "documentation watch failed", slog.Any("error", err))
			changed()
		case <-quiet.C:
			latest = time.Time{}
			if err := watchAll(watcher, s.config.folder); err != nil { // removed
				slog.WarnContext(ctx, "documentation directory not watched",
					slog.Any("error", err))
				quiet.Reset(retryInterval)
				continue
			}
			faults = s.update(ctx, faults)
		}
	}
}

// update reloads the directory and logs faults that are not known. It returns the current
// faults.
func (s *Site) update(ctx context.Context, known []page.Fault) (faults []page.Fault) {
	if err := s.read(); err != nil {
		slog.WarnContext(ctx, "documentation not reloaded",
			slog.Any("error", err))
		return known
	}
	s.changes.announce()
	library := s.now.Load().library
	slog.InfoContext(ctx, "documentation loaded", slog.Int("pages", len(library.Pages())))
	for _, f := range library.Faults() {
		if !slices.Contains(known, f) {
			slog.WarnContext(ctx, "documentation fault",
				slog.String("file", f.File), slog.String("fault", f.Text))
		}
	}
	return library.Faults()
}

// watchAll watches a directory and its subdirectories, except hidden ones. It may be
// called again, to add new subdirectories.
func watchAll(watcher *fsnotify.Watcher, dir string) error {
	dir, err := filepath.EvalSymlinks(dir) // WalkDir does not follow a link as its root
	if err != nil {
		return err
	}
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil || !entry.IsDir():
			return err
		case path != dir && strings.HasPrefix(entry.Name(), "."):
			return filepath.SkipDir
		}
		return watcher.Add(path)
	})
}

// changes notifies waiting requests of changes.
type changes struct {
	mu     sync.Mutex
	latest int64         // time of the last change in ns, which differs between processes
	next   chan struct{} // closed by the next change
	closed chan struct{} // closed by Close
	end    sync.Once
}

func newChanges() *changes {
	return &changes{
		latest: time.Now().UnixNano(), next: make(chan struct{}),
		closed: make(chan struct{}),
	}
}

func (c *changes) announce() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.latest = max(c.latest+1, time.Now().UnixNano())
	close(c.next)
	c.next = make(chan struct{})
}

// wait returns the ID of the last change, and a channel that is closed by the next
// change.
func (c *changes) wait() (latest string, next <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strconv.FormatInt(c.latest, 10), c.next
}

// Close closes the event streams of browsers, so that a server can shut down. The site
// continues to serve other requests.
func (s *Site) Close() error {
	s.changes.end.Do(func() { close(s.changes.closed) })
	return nil
}

// serveChanges sends a server-sent event after a change of the directory. It sends one at
// once if the directory changed after the last event that the browser received. Without a
// watched directory it responds with 404.
func (s *Site) serveChanges(w http.ResponseWriter, r *http.Request) {
	if s.config.folder == "" {
		http.NotFound(w, r)
		return
	}
	if r.Method != http.MethodGet {
		w.Header().Set("Allow", http.MethodGet)
		http.Error(w, "method not allowed: use GET", http.StatusMethodNotAllowed)
		return
	}
	latest, next := s.changes.wait()
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	known := r.Header.Get("Last-Event-ID")
	if known != "" && known != latest {
		_, _ = io.WriteString(w, changed(latest)) // the client disconnected
		return
	}
	// The browser stores the ID of an event without data, but does not dispatch it.
	if _, err := io.WriteString(w, "retry: 500\nid: "+latest+"\n\n"); err != nil ||
		http.NewResponseController(w).Flush() != nil {
		return
	}
	select {
	case <-next:
		latest, _ = s.changes.wait()
		_, _ = io.WriteString(w, changed(latest))
	case <-s.changes.closed:
	case <-r.Context().Done():
	}
}

func changed(latest string) string { return "id: " + latest + "\ndata: changed\n\n" }
