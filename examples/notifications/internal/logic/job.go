package logic

import (
	"context"
	"errors"

	"github.com/plinthgo/plinth/asyncx/job"
	"github.com/plinthgo/plinth/core/common/xerror"
)

// DeadJobs returns a page of dead-lettered jobs, oldest first. after is the ID of the
// last job of the previous page.
func DeadJobs(ctx context.Context, after string) ([]job.Record, error) {
	return job.MustGetQueue(ctx).List(ctx, job.Query{State: job.StateDead, After: after})
}

// Replay queues a dead-lettered job again.
func Replay(ctx context.Context, id string) error {
	err := job.MustGetQueue(ctx).Replay(ctx, id)
	switch {
	case errors.Is(err, job.ErrNotFound):
		return xerror.Wrap(xerror.ResourceNotFound, "job not found", err)
	case errors.Is(err, job.ErrState):
		return xerror.Wrap(xerror.InvalidState, "the job is not dead-lettered", err)
	}
	return err
}
