package runner

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"
)

const (
	// maxMargin bounds the part of the application's time that is kept for cutting off what has not finished: a tenth.
	maxMargin = time.Second
	// lastGrace is how long runs have to return after they were cut off, where the application sets no end.
	lastGrace = 5 * time.Second
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
	graceful, cancel := context.WithTimeout(ctx, s.stopTimeout)
	defer cancel()
	if end, ok := ctx.Deadline(); ok {
		graceful, cancel = context.WithDeadline(graceful, end.Add(-min(time.Until(end)/10, maxMargin)))
	} else {
		ctx, cancel = context.WithTimeout(ctx, s.stopTimeout+lastGrace)
	}
	defer cancel()
	select {
	case <-done:
		return nil
	case <-graceful.Done():
	}
	if names := s.names(); names != "" {
		s.log.Warn(ctx, "runs that have not ended are cut off", slog.String("jobs", names))
	}
	s.cut(ErrStopped)
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("xcronrunner: left behind, going on after the end of their context: %s", s.names())
	}
}

// names lists the jobs that run.
func (s *scheduler) names() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []string
	for e, n := range s.under {
		text := e.name
		if n > 1 {
			text = fmt.Sprintf("%s (%d runs)", text, n)
		}
		list = append(list, text)
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}
