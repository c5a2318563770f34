package notifyx

import (
	"context"
	"errors"
	"fmt"

	"github.com/plinthgo/plinth/asyncx/job"
	"github.com/plinthgo/plinth/core/defined/xctx"
)

// JobKind is the name of the jobs that SendAsync stores.
const JobKind = "plinth.notify"

var messages = job.NewKind[Message](JobKind)

// SendAsync stores a message as a durable job and returns the message ID, which is the
// same on every attempt. Inside an xdb transaction the job is stored in that transaction.
// A worker that registers Router.Handler sends the message.
//
// SendAsync returns an ErrMessage if the message is invalid or too large to store, a
// ConfigError if ctx has no queue, and otherwise the error of the queue.
func SendAsync(ctx context.Context, m *Message, opts ...job.EnqueueOption) (id string, err error) {
	registerMapper()
	ctx = xctx.Unpooled(ctx)
	c, err := prepared(ctx, m)
	if err != nil {
		return "", err
	}
	opts = append([]job.EnqueueOption{job.WithJobPriority(c.Priority)}, opts...)
	_, err = messages.Enqueue(ctx, *c, opts...)
	switch {
	case errors.Is(err, job.ErrArgs):
		return "", InvalidMessage(errors.New("the message is too large to store"))
	case err != nil:
		return "", fmt.Errorf("notifyx: SendAsync: %w", err)
	}
	return c.ID, nil
}
