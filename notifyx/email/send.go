package email

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// Send sends each message to all of its recipients. It returns after the server has
// accepted or rejected it.
//
// Send validates all messages before it connects. If one is an ErrMessage, no message is
// sent. Then it sends the messages in order. For a single message it returns its error;
// for several it joins one *MessageError per failed message. Send messages separately if
// a failure leads to a retry.
//
// Temporary failures (4xx) are retried until ctx is done, with Config.Tries attempts in
// all. If the server closed the connection and cannot have accepted the message, Send
// opens a new connection once.
func (c *EmailClient) Send(ctx context.Context, msgs ...*Message) error {
	ctx, end, err := c.beginCall(ctx)
	if err != nil {
		return err
	}
	defer end()
	problems := make([]error, len(msgs))
	list := make([]*composed, len(msgs))
	for i, m := range msgs {
		list[i], problems[i] = c.compose(ctx, m)
	}
	if err := joinErrors(msgs, problems); err != nil {
		return err
	}
	reached := true // a failure to reach the server also affects the next messages
	for i, m := range list {
		if reached {
			reached, err = c.sendOne(ctx, m)
		}
		problems[i] = err
	}
	return joinErrors(msgs, problems)
}

// MessageError identifies a failed message of a Send with several messages.
type MessageError struct {
	// Index is the index of the message.
	Index int
	// ID is the ID of the message.
	ID string
	// Err is the error that Send returns for a single message.
	Err error
}

// Error returns the position, from 1, and the cause.
func (e *MessageError) Error() string { return fmt.Sprintf("message %d: %v", e.Index+1, e.Err) }

// Unwrap returns Err.
func (e *MessageError) Unwrap() error { return e.Err }

// joinErrors joins the errors of several messages. The error of a single message is not
// wrapped.
func joinErrors(msgs []*Message, problems []error) error {
	if len(msgs) == 1 {
		return problems[0]
	}
	var all []error
	for i, err := range problems {
		if err == nil {
			continue
		}
		e := &MessageError{Index: i, Err: err}
		if msgs[i] != nil {
			e.ID = msgs[i].ID
		}
		all = append(all, e)
	}
	return errors.Join(all...)
}

// sendOne sends one message and retries temporary failures. reached reports whether the
// server was reached.
func (c *EmailClient) sendOne(ctx context.Context, m *composed) (reached bool, err error) {
	start := time.Now()
	for attempt := 1; ; attempt++ {
		reached = false
		err = c.use(ctx, func(s *session) (keep bool, err error) {
			reached = true
			return s.deliver(*c.config, m)
		})
		if err == nil {
			emailLog.Info(ctx, "mail accepted by the server", slog.String("message_id", m.id),
				slog.Int("recipients", len(m.recipients)), slog.Int("bytes", len(m.content)),
				slog.Int("tries", attempt),
				slog.Duration("took", time.Since(start)))
			return true, nil
		}
		if !isTemporary(err) || attempt >= c.config.Tries {
			return reached, err
		}
		wait := c.config.Backoff(attempt)
		emailLog.Warn(ctx, "mail deferred; retrying",
			slog.String("message_id", m.id), slog.Int("try", attempt),
			slog.Duration("wait", wait), slog.Any("error", err))
		if stopped := c.wait(ctx, wait, err); stopped != nil {
			return reached, stopped
		}
	}
}

// isTemporary reports whether err is a temporary failure of the server.
func isTemporary(err error) bool {
	if several, ok := errors.AsType[*RecipientsError](err); ok {
		return several.Temporary()
	}
	one, ok := errors.AsType[*SMTPError](err)
	return ok && one.Temporary()
}

// wait waits before the next attempt. If the attempt is canceled, wait returns an error
// that includes the last failure.
func (c *EmailClient) wait(ctx context.Context, d time.Duration, last error) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-c.stopping:
		return fail(ErrClosed, "", last)
	case <-ctx.Done():
	}
	f := contextError(ctx, "waiting for a retry")
	return &failure{kinds: f.Unwrap(), step: f.step, cause: last}
}

// use calls do with a connection, which is reused if keep is true. If the server has
// closed the connection, use retries once with a new one.
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
		emailLog.Debug(ctx, "server closed the connection; reconnecting")
	}
}
