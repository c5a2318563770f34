package logic

import (
	"context"
	"errors"

	"github.com/plinthgo/plinth/asyncx/job"
	"github.com/plinthgo/plinth/core/common/xerror"
)

// DeadJobs returns a page of the jobs that are not tried any more by themselves, the
// oldest first. after is the id of the last one of the page before.
func DeadJobs(ctx context.Context, after string) ([]job.Record, error) {
	return job.MustGetQueue(ctx).List(ctx, job.Query{State: job.StateDead, After: after})
}

// Replay lets a dead job run again.
func Replay(ctx context.Context, id string) error {
	err := job.MustGetQueue(ctx).Replay(ctx, id)
	switch {
	case errors.Is(err, job.ErrNotFound):
		return xerror.Wrap(xerror.ResourceNotFound, "there is no such job", err)
	case errors.Is(err, job.ErrState):
		return xerror.Wrap(xerror.InvalidState, "the job is not dead", err)
	}
	return err
}
