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

// stop shuts down once. Every call waits for the result. ctx limits the wait in addition
// to the graceful stop timeout.
func (s *scheduler) stop(ctx context.Context) error {
	s.once.Do(func() {
		s.err = s.finish(ctx)
		close(s.stopped)
	})
	return s.err
}

// finish stops the loop, waits for running jobs, and cancels those that exceed the
// timeout.
func (s *scheduler) finish(ctx context.Context) error {
	s.end()
	<-s.looped
	done := make(chan struct{})
	go func() {
		s.running.Wait()
		close(done)
	}()
	err := xhook.Finish(ctx, s.stopTimeout, done, func() { s.cancelRuns(ctx) })
	s.mu.Lock()
	defer s.mu.Unlock()
	var problems []string
	if len(s.canceled) > 0 {
		problems = append(problems, "canceled: "+strings.Join(s.canceled, ", "))
	}
	if errors.Is(err, xhook.ErrAbandoned) {
		problems = append(problems,
			"abandoned: "+cmp.Or(strings.Join(s.names(), ", "), "backend call"))
	}
	if problems == nil {
		return nil
	}
	return fmt.Errorf("%w: %s", ErrStopped, strings.Join(problems, "; "))
}

// cancelRuns cancels the contexts of all runs.
func (s *scheduler) cancelRuns(ctx context.Context) {
	s.mu.Lock()
	s.canceled = s.names()
	s.cancelAll(ErrStopped)
	text := strings.Join(s.canceled, ", ")
	s.mu.Unlock()
	if text != "" {
		s.log.Warn(ctx, "canceling runs", slog.String("jobs", text))
	}
}

// enter counts a running tick until the returned function is called.
func (s *scheduler) enter(e *entry) func() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.active[e.name]++
	// it was claimed after the cancellation
	if s.runs.Err() != nil && !slices.Contains(s.canceled, e.name) {
		s.canceled = append(s.canceled, e.name)
	}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.active[e.name]--
	}
}

// names returns the running jobs. The caller holds mu.
func (s *scheduler) names() (list []string) {
	for _, name := range slices.Sorted(maps.Keys(s.active)) {
		switch n := s.active[name]; {
		case n > 1:
			list = append(list, fmt.Sprintf("%s (%d runs)", name, n))
		case n == 1:
			list = append(list, name)
		}
	}
	return list
}
