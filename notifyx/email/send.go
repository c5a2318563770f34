package email

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// Send sends each message to all of its recipients and returns when the server has taken
// it, or will not.
//
// All messages are checked before a connection is made; where one is an ErrMessage, none
// is sent. They are then sent in order. Of a single message the error is its own; of
// several it joins one *MessageError for each that was not sent. Send them by themselves
// where a failure leads to a repeat.
//
// What the server refuses for the moment (4xx) is tried again, Config.Tries times in all,
// as long as ctx lasts. A connection that the server has closed is replaced once, where
// it is certain that the message was not accepted.
func (c *EmailClient) Send(ctx context.Context, msgs ...*Message) error {
	ctx, end, err := c.enter(ctx)
	if err != nil {
		return err
	}
	defer end()
	problems := make([]error, len(msgs))
	list := make([]*composed, len(msgs))
	for i, m := range msgs {
		list[i], problems[i] = c.compose(ctx, m)
	}
	if err := joined(msgs, problems); err != nil {
		return err
	}
	reached := true // what keeps one message from the server will keep the next ones too
	for i, m := range list {
		if reached {
			reached, err = c.sendOne(ctx, m)
		}
		problems[i] = err
	}
	return joined(msgs, problems)
}

// MessageError says which message of a Send of several was not sent.
type MessageError struct {
	// Index is its place among the messages, from 0.
	Index int
	// ID is its ID.
	ID string
	// Err is what Send returns for it alone.
	Err error
}

// Error has the place and the cause.
func (e *MessageError) Error() string { return fmt.Sprintf("message %d: %v", e.Index+1, e.Err) }

// Unwrap returns Err.
func (e *MessageError) Unwrap() error { return e.Err }

// joined returns the error for the problems of messages, of which the error of a single
// one is its own.
func joined(msgs []*Message, problems []error) error {
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

// sendOne sends one message, and tries again what the server refuses for the moment. The
// first result says whether the server was reached at all.
func (c *EmailClient) sendOne(ctx context.Context, m *composed) (reached bool, err error) {
	start := time.Now()
	for try := 1; ; try++ {
		reached = false
		err = c.use(ctx, func(s *session) (keep bool, err error) {
			reached = true
			return s.deliver(*c.config, m)
		})
		if err == nil {
			emailLog.Info(ctx, "mail accepted by the server", slog.String("message_id", m.id),
				slog.Int("recipients", len(m.recipients)), slog.Int("bytes", len(m.content)),
				slog.Int("tries", try),
				slog.Duration("took", time.Since(start)))
			return true, nil
		}
		if !isTemporary(err) || try >= c.config.Tries {
			return reached, err
		}
		wait := c.config.Backoff(try)
		emailLog.Warn(ctx, "mail refused for the moment",
			slog.String("message_id", m.id), slog.Int("try", try),
			slog.Duration("wait", wait), slog.Any("error", err))
		if stopped := c.wait(ctx, wait, err); stopped != nil {
			return reached, stopped
		}
	}
}

// isTemporary reports an answer of the server that it may not give again.
func isTemporary(err error) bool {
	if several, ok := errors.AsType[*RecipientsError](err); ok {
		return several.Temporary()
	}
	one, ok := errors.AsType[*SMTPError](err)
	return ok && one.Temporary()
}

// wait waits for the next try. When there will be none, it returns why, with what the
// server said last.
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
	f := ended(ctx, "before another try")
	return &failure{kinds: f.Unwrap(), step: f.step, cause: last}
}

// use runs do with a connection, which can be used again if keep is true. A connection
// that turns out to be closed is replaced once.
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
