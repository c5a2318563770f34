package email

import (
	"context"
	"errors"
	"log/slog"
	"time"
)

// Send sends each message to all of its recipients and returns when the server has taken it, or will not.
//
// All messages are checked, and their files read, before a connection is made; where one is an ErrMessage, none is sent. They
// are then sent in order. Of a single message the error is its own; of several it joins one *MessageError for each that was not
// sent. Send them by themselves where a failure leads to a repeat.
//
// What the server refuses for the moment (4xx) is tried again, Config.Tries times in all, as long as ctx lasts. A connection
// that the server has closed is replaced once, where it is certain that the message was not accepted.
func (c *EmailClient) Send(ctx context.Context, msgs ...*Message) error {
	ctx, end, err := c.enter(ctx)
	if err != nil {
		return err
	}
	defer end()
	var problems []error
	list := make([]*composed, len(msgs))
	for i, m := range msgs {
		list[i], err = c.compose(ctx, m)
		problems = append(problems, numbered(msgs, i, err))
	}
	if err := joined(problems); err != nil {
		return err
	}
	var unreachable error // what keeps this message from the server will keep the next ones too
	for i, m := range list {
		reached, err := false, unreachable
		if unreachable == nil {
			reached, err = c.sendOne(ctx, m)
		}
		if !reached {
			unreachable = err
		}
		problems = append(problems, numbered(msgs, i, err))
	}
	return joined(problems)
}

// numbered says which of several messages an error is about.
func numbered(msgs []*Message, i int, err error) error {
	if err == nil || len(msgs) == 1 {
		return err
	}
	e := &MessageError{Index: i, Err: err}
	if msgs[i] != nil {
		e.ID = msgs[i].ID
	}
	return e
}

// joined is errors.Join that leaves a single error as it is.
func joined(errs []error) error {
	var found []error
	for _, err := range errs {
		if err != nil {
			found = append(found, err)
		}
	}
	if len(found) == 1 {
		return found[0]
	}
	return errors.Join(found...)
}

// sendOne sends one message. The first result says whether the server was reached at all.
func (c *EmailClient) sendOne(ctx context.Context, m *composed) (reached bool, err error) {
	start, replaced, fresh := time.Now(), false, false
	for try := 1; ; {
		reached, err = c.attempt(ctx, m, fresh)
		switch {
		case err == nil:
			emailLog.Info(ctx, "mail accepted by the server", slog.String("message_id", m.id), slog.Int("recipients", len(m.recipients)),
				slog.Int("bytes", len(m.content)), slog.Int("tries", try), slog.Duration("took", time.Since(start)))
			return true, nil
		case reached && !replaced && errors.Is(err, errDropped):
			replaced, fresh = true, true
			emailLog.Debug(ctx, "the server closed the connection; a new one is made", slog.String("message_id", m.id))
			continue
		case !isTemporary(err) || try >= c.config.Tries:
			return reached, err
		}
		fresh = false
		wait := c.config.Backoff(try)
		emailLog.Warn(ctx, "mail refused for the moment", slog.String("message_id", m.id), slog.Int("try", try),
			slog.Duration("wait", wait), slog.Any("error", err))
		if stopped := c.wait(ctx, wait, err); stopped != nil {
			return reached, stopped
		}
		try++
	}
}

// attempt sends a message once.
func (c *EmailClient) attempt(ctx context.Context, m *composed, fresh bool) (reached bool, err error) {
	s, err := c.acquire(ctx, fresh)
	if err != nil {
		return false, err
	}
	keep, err := s.deliver(*c.config, m)
	c.release(s, keep)
	return true, err
}

// isTemporary reports an answer of the server that it may not give again.
func isTemporary(err error) bool {
	var several *RecipientsError
	var one *SMTPError
	switch {
	case errors.As(err, &several):
		return several.Temporary()
	case errors.As(err, &one):
		return one.Temporary()
	default:
		return false
	}
}

// wait waits for the next try. When there will be none, it returns why, with what the server said last.
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
	f.kinds = append(f.kinds, f.cause)
	f.cause = last
	return f
}
