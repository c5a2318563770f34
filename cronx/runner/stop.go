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

// stop shuts the scheduler down once. Every call waits for the shutdown and returns its
// error. ctx limits the wait in addition to the graceful stop timeout.
func (s *scheduler) stop(ctx context.Context) error {
	s.stopOnce.Do(func() {
		s.stopErr = s.finish(ctx)
		close(s.stopped)
	})
	return s.stopErr
}

// finish stops the loop, waits for running jobs, and cancels those that exceed the
// timeout.
func (s *scheduler) finish(ctx context.Context) error {
	s.requestStop()
	<-s.loopDone
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
	jobs := strings.Join(s.canceled, ", ")
	s.mu.Unlock()
	if jobs != "" {
		s.log.Warn(ctx, "canceling runs", slog.String("jobs", jobs))
	}
}

// enter counts a running tick until the returned function is called.
func (s *scheduler) enter(e *entry) func() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.active[e.name]++
	// cancelRuns ran before this tick was claimed
	if s.runsCtx.Err() != nil && !slices.Contains(s.canceled, e.name) {
		s.canceled = append(s.canceled, e.name)
	}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.active[e.name]--
	}
}

// names returns the names of the running jobs. The caller must hold mu.
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
