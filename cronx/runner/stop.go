package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"github.com/plinthgo/plinth/core/major/xhook"
)

// stop waits for what runs, once; whoever calls it again waits for the same outcome. ctx
// bounds it beside the timeout of the graceful stop.
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
		problems = append(problems, "cut off: "+strings.Join(s.lost, ", "))
	}
	if errors.Is(err, xhook.ErrAbandoned) {
		problems = append(problems,
			"left behind: "+cmp.Or(strings.Join(s.names(), ", "), "a call to the backend"))
	}
	if problems == nil {
		return nil
	}
	return fmt.Errorf("%w: %s", ErrStopped, strings.Join(problems, "; "))
}

// cutRuns ends the contexts of all runs.
func (s *scheduler) cutRuns(ctx context.Context) {
	s.mu.Lock()
	s.lost = s.names()
	s.cut(ErrStopped)
	text := strings.Join(s.lost, ", ")
	s.mu.Unlock()
	if text != "" {
		s.log.Warn(ctx, "runs that have not ended are cut off", slog.String("jobs", text))
	}
}

// enter counts a tick of a job among what is run until the function that it returns is
// called.
func (s *scheduler) enter(e *entry) func() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.under[e.name]++
	// it was taken when the contexts had ended
	if s.runs.Err() != nil && !slices.Contains(s.lost, e.name) {
		s.lost = append(s.lost, e.name)
	}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.under[e.name]--
	}
}

// names lists the jobs of what is run. mu is locked.
func (s *scheduler) names() (list []string) {
	for _, name := range slices.Sorted(maps.Keys(s.under)) {
		switch n := s.under[name]; {
		case n > 1:
			list = append(list, fmt.Sprintf("%s (%d runs)", name, n))
		case n == 1:
			list = append(list, name)
		}
	}
	return list
}
