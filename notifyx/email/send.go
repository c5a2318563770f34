package email

import (
	"context"
	"errors"
	"log/slog"
	"time"
)

// Send sends a message to all of its recipients and returns when the server has taken it, or will not.
//
// The message is checked before a connection is made. A connection that the server has closed is replaced once, where it is
// certain that the message was not accepted. What the server refuses for the moment (4xx) is the caller's to try again: a
// durable job does.
func (c *EmailClient) Send(ctx context.Context, m *Message) error {
	ctx, end, err := c.enter(ctx)
	if err != nil {
		return err
	}
	defer end()
	out, err := c.compose(ctx, m)
	if err != nil {
		return err
	}
	start := time.Now()
	err = c.use(ctx, func(s *session) (keep bool, err error) { return s.deliver(*c.config, out) })
	if err == nil {
		emailLog.Info(ctx, "mail accepted by the server", slog.String("message_id", out.id),
			slog.Int("recipients", len(out.recipients)), slog.Int("bytes", len(out.content)),
			slog.Duration("took", time.Since(start)))
	}
	return err
}

// use runs do with a connection, which can be used again if keep is true. A connection that turns out to be closed is
// replaced once.
func (c *EmailClient) use(ctx context.Context, do func(s *session) (keep bool, err error)) error {
	for fresh := false; ; fresh = true {
		s, err := c.acquire(ctx, fresh)
		if err != nil {
			return err
		}
		keep, err := do(s)
		c.release(s, keep)
		if fresh || !errors.Is(err, errDropped) {
			return err
		}
		emailLog.Debug(ctx, "the server closed the connection; a new one is made")
	}
}
