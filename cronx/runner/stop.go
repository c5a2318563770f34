package runner

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/plinthgo/plinth/core/major/xhook"
)

// stop waits for what runs, once; whoever calls it again waits for the same outcome. ctx bounds it beside the timeout of the
// graceful stop.
func (s *scheduler) stop(ctx context.Context) error {
	s.once.Do(func() {
		s.err = s.finish(ctx)
		close(s.stopped)
	})
	return s.err
}

// finish ends the loop, waits for what runs, and cuts off what takes too long.
func (s *scheduler) finish(ctx context.Context) error {
	s.end()
	<-s.looped
	done := make(chan struct{})
	go func() {
		s.running.Wait()
		close(done)
	}()
	err := xhook.Finish(ctx, s.stopTimeout, done, func() { s.cutRuns(ctx) })
	s.mu.Lock()
	defer s.mu.Unlock()
	var problems []string
	if len(s.lost) > 0 {
		problems = append(problems, "cut off: "+names(s.lost))
	}
	switch {
	case !errors.Is(err, xhook.ErrAbandoned):
	case len(s.under) > 0:
		problems = append(problems, "left behind: "+names(s.under))
	default:
		problems = append(problems, "left behind: a call to the backend")
	}
	if problems == nil {
		return nil
	}
	return fmt.Errorf("%w: %s", ErrStopped, strings.Join(problems, "; "))
}

// cutRuns ends the contexts of all runs.
func (s *scheduler) cutRuns(ctx context.Context) {
	s.mu.Lock()
	s.lost = maps.Clone(s.under)
	s.cut(ErrStopped)
	text := names(s.lost)
	s.mu.Unlock()
	if text != "" {
		s.log.Warn(ctx, "runs that have not ended are cut off", slog.String("jobs", text))
	}
}

// enter counts a tick among what is run until the function that it returns is called.
func (s *scheduler) enter(e *entry, at time.Time) func() {
	key := tick{e, at}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.under[key]++
	if s.lost != nil { // it was taken when the contexts had ended
		s.lost[key] = max(s.lost[key], s.under[key])
	}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.under[key]--; s.under[key] == 0 {
			delete(s.under, key)
		}
	}
}

// names lists the jobs of ticks.
func names(ticks map[tick]int) string {
	runs := map[string]int{}
	for t, n := range ticks {
		runs[t.entry.name] += n
	}
	list := make([]string, 0, len(runs))
	for _, name := range slices.Sorted(maps.Keys(runs)) {
		if n := runs[name]; n > 1 {
			name = fmt.Sprintf("%s (%d runs)", name, n)
		}
		list = append(list, name)
	}
	return strings.Join(list, ", ")
}
