// Package runner runs jobs on a schedule, as a task of xmain.Runner.
//
//	xmain.Runner(reg, log, nil, runner.New(
//		runner.WithRegister(
//			cronx.NewJob("*/5 * * * *", refresh),
//			cronx.NewJob("0 3 * * *", sendReport, cronx.WithName("report"), cronx.WithSingleRun()),
//		),
//	))
//
// Every tick has one outcome: it is run; it is skipped, since an earlier run goes on; it
// is missed, since the process stood still for more than 30 s after it; or, for a job of
// cronx.WithSingleRun, another replica has taken it. Nothing is made up for.
//
// When the stop begins no run begins any more. Those that go on are waited for, until the
// timeout of the graceful stop or the application's own; then their contexts end with the
// cause ErrStopped, and an error names what was cut off so, and what goes on
// nevertheless.
package runner

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"time"

	"github.com/plinthgo/plinth/core/common/xlease"
	"github.com/plinthgo/plinth/core/common/xlease/driver"
	"github.com/plinthgo/plinth/core/major/xhook"
	"github.com/plinthgo/plinth/cronx"
)

// name is that of the runner among hooks, holds and errors.
const name = "cron"

// New returns a task for xmain.Runner that runs jobs until the application stops.
//
// What is wrong with the jobs ends the application with an error, all at once. Outside an
// application, where nobody would hear of it, the error is logged: use Serve there.
func New(options ...Option) func(ctx context.Context, extra ...any) {
	c := newConfig(options)
	return func(ctx context.Context, _ ...any) {
		release, _ := xhook.HoldReady(ctx, name)
		defer release() // after a failure has been told
		if err := c.serve(ctx, release); err != nil && !xhook.Fail(ctx, err) {
			c.log.Error(ctx, "the runner of jobs failed", slog.Any("error", err))
		}
	}
}

// Serve runs jobs until ctx ends and the runs that go on have ended, and returns what
// went wrong. The start's problems are reported all at once.
func Serve(ctx context.Context, options ...Option) error {
	return newConfig(options).serve(ctx, func() {})
}

// serve is one life of a scheduler; it calls started when ticks are counted.
func (c *config) serve(ctx context.Context, started func()) error {
	s, err := c.build(ctx)
	if err != nil {
		return err
	}
	if ctx.Err() == nil {
		err = s.live(ctx, started)
	}
	if c.oneProcess && s.leases != nil {
		return errors.Join(err, s.leases.Close())
	}
	return err
}

// build checks the jobs, and reports everything that is wrong.
func (c *config) build(ctx context.Context) (*scheduler, error) {
	s := newScheduler(ctx, c)
	problems := slices.Clone(c.faults)
	if len(c.jobs) == 0 {
		problems = append(problems, fmt.Errorf("%w: there is no job: give WithRegister", ErrOption))
	}
	names := map[string]int{}
	for _, job := range c.jobs {
		schedule, err := job.Schedule(c.zone)
		if err != nil {
			problems = append(problems, fmt.Errorf("cronx/runner: %w", err))
			continue
		}
		label := job.Name()
		names[label]++
		if n := names[label]; n > 1 {
			if job.Named() {
				problems = append(problems,
					fmt.Errorf("cronx/runner: %w: %q: another job has this name",
						cronx.ErrJob, label))
			}
			label += "#" + strconv.Itoa(n)
		}
		s.entries = append(s.entries, &entry{job: job, name: label, schedule: schedule})
	}
	if err := s.findLeases(ctx); err != nil {
		problems = append(problems, err)
	}
	return s, errors.Join(problems...)
}

// findLeases finds what decides single runs, where a job needs that.
func (s *scheduler) findLeases(ctx context.Context) error {
	first := ""
	for _, job := range s.jobs {
		if job != nil && job.SingleRun() {
			first = job.Name()
			break
		}
	}
	if first == "" {
		return nil
	}
	if s.oneProcess {
		s.leases = xlease.New(xlease.InProcess(nil))
		return nil
	}
	const remedy = "give Register xoption.WithDatabase, or xoption.WithCache with the driver of cacheplugins/redis; or " +
		"runner.WithOneProcess, where the application is one process and no cluster"
	leases, missing := xlease.GetLeases(ctx)
	if missing != nil {
		return fmt.Errorf("cronx/runner: %q is to run once in the cluster, and the application has no leases that could decide "+
			"where (%s): %w", first, remedy, error(missing))
	}
	s.leases = leases
	if s.leases.Capabilities().Scope == driver.Process {
		return fmt.Errorf("cronx/runner: %q is to run once in the cluster, and the leases are those of %s (%s): %w",
			first, s.leases, remedy, xlease.ErrUnsupported)
	}
	if err := s.leases.Prepare(ctx); err != nil {
		return fmt.Errorf("cronx/runner: %q is to run once in the cluster: %w", first, err)
	}
	return nil
}

// announce says what runs when, and between whom single runs are decided.
func (s *scheduler) announce(ctx context.Context, now time.Time) {
	if s.leases != nil {
		s.log.Notice(ctx, "single runs are decided", slog.String("by", s.leases.String()))
	}
	for _, e := range s.entries {
		s.log.Info(ctx, "scheduled", slog.String("job", e.name), slog.String("spec", e.job.Spec()),
			slog.String("zone", e.schedule.Location().String()),
			slog.Bool("single_run", e.job.SingleRun()),
			slog.Time("next", e.schedule.Next(now)))
	}
}
