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

// settle is how long a folder has to be quiet before it is read: an editor writes a file
// in several steps.
const settle = 100 * time.Millisecond

// patience is how long a change may have to wait for quiet.
const patience = time.Second

// again is how long it takes until a folder that is gone is looked for once more.
const again = 2 * time.Second

// Watch reads the folder of WithFolder again whenever it changes, and tells the browsers
// that show it, until ctx ends. Content that cannot be read is logged, and what was shown
// before stays; faults that are new are logged too. It returns at once where there is no
// folder, and an error where the folder cannot be watched at the beginning; that ctx ends
// is none. It may run beside any other method such as ServeHTTP, once at a time.
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
	faults := s.update(ctx, nil) // what has changed since New
	quiet := time.NewTimer(settle)
	quiet.Stop()
	var latest time.Time // at which a change is read that was seen
	changed := func() {
		if latest.IsZero() {
			latest = time.Now().Add(patience)
		}
		quiet.Reset(min(settle, time.Until(latest)))
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-watcher.Events:
			changed()
		case err := <-watcher.Errors:
			slog.WarnContext(ctx, "watching the documentation", slog.Any("error", err))
			changed()
		case <-quiet.C:
			latest = time.Time{}
			if err := watchAll(watcher, s.config.folder); err != nil { // it is gone
				slog.WarnContext(ctx, "the folder of the documentation cannot be watched",
					slog.Any("error", err))
				quiet.Reset(again)
				continue
			}
			faults = s.update(ctx, faults)
		}
	}
}

// update shows what the folder holds now, and tells of its faults but for those that are
// known.
func (s *Site) update(ctx context.Context, known []page.Fault) (faults []page.Fault) {
	if err := s.read(); err != nil {
		slog.WarnContext(ctx, "the documentation cannot be read; what was shown before stays",
			slog.Any("error", err))
		return known
	}
	s.changes.announce()
	library := s.now.Load().library
	slog.InfoContext(ctx, "the documentation was read", slog.Int("pages", len(library.Pages())))
	for _, f := range library.Faults() {
		if !slices.Contains(known, f) {
			slog.WarnContext(ctx, "fault of the documentation",
				slog.String("file", f.File), slog.String("fault", f.Text))
		}
	}
	return library.Faults()
}

// watchAll watches a folder and those in it, but for hidden ones, which are not read.
// Watching one twice does nothing, and those that are new are watched from then on.
func watchAll(watcher *fsnotify.Watcher, dir string) error {
	dir, err := filepath.EvalSymlinks(dir) // WalkDir does not follow its root
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

// changes tells those who wait of a change.
type changes struct {
	mu     sync.Mutex
	latest int64         // time of the latest change in ns, in which no two processes agree
	next   chan struct{} // closed at the next change
	closed chan struct{} // closed at the end
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

// wait returns the number of the latest change, and what is closed at the next one.
func (c *changes) wait() (latest string, next <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strconv.FormatInt(c.latest, 10), c.next
}

// Close ends what waits for a change of the folder, so that a server can stop. The site
// goes on answering.
func (s *Site) Close() error {
	s.changes.end.Do(func() { close(s.changes.closed) })
	return nil
}

// serveChanges sends a server-sent event when the folder has changed, or has changed
// since the event that the browser names when it comes back. Where none is watched there
// is no such address.
func (s *Site) serveChanges(w http.ResponseWriter, r *http.Request) {
	if s.config.folder == "" {
		http.NotFound(w, r)
		return
	}
	if r.Method != http.MethodGet {
		w.Header().Set("Allow", http.MethodGet)
		http.Error(w, "this address is read with GET", http.StatusMethodNotAllowed)
		return
	}
	latest, next := s.changes.wait()
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	known := r.Header.Get("Last-Event-ID")
	if known != "" && known != latest {
		_, _ = io.WriteString(w, changed(latest)) // an error is the reader's going away
		return
	}
	// An event without data is not shown to the page, but its id is kept.
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
