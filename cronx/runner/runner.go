// Package runner runs scheduled jobs, as a task of xmain.Runner.
//
//	xmain.Runner(reg, log, nil, runner.New(
//		runner.WithRegister(
//			cronx.NewJob("*/5 * * * *", refresh),
//			cronx.NewJob("0 3 * * *", sendReport,
//				cronx.WithName("report"), cronx.WithSingleRun()),
//		),
//	))
//
// A tick is skipped if a run of its job is in progress, and missed if the process was
// suspended for more than 30 s. A tick of a single-run job (cronx.WithSingleRun) runs on
// the replica that claims it, and on no replica if the backend is unavailable. No tick is
// run later. The runner logs a warning if ticks are skipped, missed or not run.
//
// After the shutdown has started, the runner starts no run and waits for running jobs.
// When the graceful stop timeout or the application's shutdown timeout expires, it
// cancels their contexts with the cause ErrStopped. The returned error names the canceled
// jobs and the jobs that did not return.
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

// name is the name of the runner in hooks, readiness holds and errors.
const name = "cron"

// New returns a task for xmain.Runner that runs jobs until the application stops.
//
// A configuration error stops the application. The error contains all problems. Outside
// an application the task only logs the error: use Serve there.
func New(options ...Option) func(ctx context.Context, extra ...any) {
	c := newConfig(options)
	return func(ctx context.Context, _ ...any) {
		release, _ := xhook.HoldReady(ctx, name)
		defer release() // runs after Fail
		if err := c.serve(ctx, release); err != nil && !xhook.Fail(ctx, err) {
			c.log.Error(ctx, "cron runner failed", slog.Any("error", err))
		}
	}
}

// Serve runs jobs until ctx is canceled and the running jobs have returned. It reports
// all configuration errors at once.
func Serve(ctx context.Context, options ...Option) error {
	return newConfig(options).serve(ctx, func() {})
}

// serve runs a scheduler. It calls started as soon as the first ticks are scheduled.
func (c *config) serve(ctx context.Context, started func()) error {
	s, err := c.build(ctx)
	if err != nil {
		return err
	}
	if ctx.Err() == nil {
		err = s.runUntilStopped(ctx, started)
	}
	if c.oneProcess && s.leases != nil {
		return errors.Join(err, s.leases.Close())
	}
	return err
}

// build returns a scheduler of the jobs, or all problems of the configuration.
func (c *config) build(ctx context.Context) (*scheduler, error) {
	s := newScheduler(ctx, c)
	problems := slices.Clone(c.problems)
	if len(c.jobs) == 0 {
		problems = append(problems, fmt.Errorf("%w: no job: use WithRegister", ErrOption))
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
					fmt.Errorf("cronx/runner: %w: %q: duplicate name", cronx.ErrJob, label))
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

// findLeases sets the leases of single runs, if a job requires them.
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
	const fix = "use xoption.WithDatabase, or xoption.WithCache with the driver of " +
		"cacheplugins/redis; or runner.WithOneProcess if the application is a single process"
	leases, missingErr := xlease.GetLeases(ctx)
	if missingErr != nil {
		return fmt.Errorf("cronx/runner: %q is a single-run job, and the application has no "+
			"leases (%s): %w", first, fix, error(missingErr))
	}
	s.leases = leases
	if s.leases.Capabilities().Scope == driver.Process {
		return fmt.Errorf("cronx/runner: %q is a single-run job, and the leases of %s have no "+
			"cluster scope (%s): %w", first, s.leases, fix, xlease.ErrUnsupported)
	}
	// if ctx is canceled, the startup was stopped
	if err := s.leases.Prepare(ctx); err != nil && ctx.Err() == nil {
		return fmt.Errorf("cronx/runner: %q is a single-run job: %w", first, err)
	}
	return nil
}

// announce logs the scheduled jobs and the backend of single runs.
func (s *scheduler) announce(ctx context.Context, now time.Time) {
	if s.leases != nil {
		s.log.Notice(ctx, "single runs enabled", slog.String("by", s.leases.String()))
	}
	for _, e := range s.entries {
		s.log.Info(ctx, "scheduled", slog.String("job", e.name), slog.String("spec", e.job.Spec()),
			slog.String("zone", e.schedule.Location().String()),
			slog.Bool("single_run", e.job.SingleRun()),
			slog.Time("next", e.schedule.Next(now)))
	}
}
