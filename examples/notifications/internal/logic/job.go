package logic

import (
	"context"
	"errors"

	xJob "github.com/plinthgo/plinth/asyncx/job"
	xError "github.com/plinthgo/plinth/core/common/xerror"
)

// DeadJobs returns a page of the jobs that are not tried any more by themselves, the oldest first. after is the id of the
// last one of the page before.
func DeadJobs(ctx context.Context, after string) ([]xJob.Record, error) {
	return xJob.MustGetQueue(ctx).List(ctx, xJob.Query{State: xJob.StateDead, After: after})
}

// Replay lets a dead job run again.
func Replay(ctx context.Context, id string) error {
	err := xJob.MustGetQueue(ctx).Replay(ctx, id)
	switch {
	case errors.Is(err, xJob.ErrNotFound):
		return xError.Wrap(xError.ResourceNotFound, "there is no such job", err)
	case errors.Is(err, xJob.ErrState):
		return xError.Wrap(xError.InvalidState, "the job is not dead", err)
	}
	return err
}
