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

// messages is the kind of job whose argument is a message.
var messages = job.NewKind[Message](JobKind)

// SendAsync stores a message as a durable job and returns the message's id, which every
// try has. In a transaction of xdb the job is part of it. A worker with Router.Handler
// sends the message.
//
// The error is an ErrMessage for a message that is not valid or too large to store, and
// else what the queue says: a ConfigError where ctx carries none. Nothing is ever kept in
// memory only.
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
		return "", InvalidMessage(errors.New("it is too large to be stored"))
	case err != nil:
		return "", fmt.Errorf("notifyx: SendAsync: %w", err)
	}
	return c.ID, nil
}
