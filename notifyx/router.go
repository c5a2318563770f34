package notifyx

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"
	"time"

	"github.com/plinthgo/plinth/asyncx/job"
	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/common/xutil"
	"github.com/plinthgo/plinth/core/defined/xctx"
)

// Router passes each message to the sender of its type. It is safe for concurrent use.
type Router struct {
	senders   map[Type]Sender
	templates *Templates
}

var log = xlog.WithName(xlog.NamedNOTI)

// New returns a router, or an error with all invalid options. The caller closes the
// senders.
func New(opts ...Option) (*Router, error) {
	return newRouter(context.Background(), opts)
}

func newRouter(ctx context.Context, opts []Option) (*Router, error) {
	registerMapper()
	c := config{ctx: ctx, router: Router{senders: map[Type]Sender{}}}
	for _, opt := range opts {
		if opt != nil {
			opt(&c)
		}
	}
	if err := errors.Join(c.errs...); err != nil {
		return nil, err
	}
	return &c.router, nil
}

// Send renders the template of the message and sends it immediately with the sender of
// its type. The language is that of the message, else that of the request. Send does not
// change m; Result.ID has the generated ID if m has no ID.
//
// Send returns the errors of Message.Validate and Templates.Render, ErrNoSender, and the
// error of the sender. Errors contain no recipients. If a sender panics, Send returns an
// error and logs the stack.
func (r *Router) Send(ctx context.Context, m *Message) (Result, error) {
	ctx = xctx.Unpooled(ctx)
	start := time.Now()
	c, err := prepared(ctx, m)
	if err == nil {
		err = r.send(ctx, c)
	}
	err = masked(err, c)
	result := newResult(c.ID, err)
	logResult(ctx, c, result, time.Since(start))
	return result, err
}

// prepared returns a copy of the message with all defaults set, and the error of its
// validation.
func prepared(ctx context.Context, m *Message) (*Message, error) {
	if m == nil {
		return &Message{}, m.Validate()
	}
	c := *m
	if c.ID == "" {
		c.ID = xutil.UUID().V7()
	}
	if c.CreatedAt.IsZero() {
		c.CreatedAt = time.Now()
	}
	c.CreatedAt = c.CreatedAt.UTC().Truncate(time.Microsecond)
	if c.Priority == 0 {
		c.Priority = job.PriorityDefault
	}
	if request := xctx.RequestFrom(ctx); c.Language == "" && request != nil {
		header := trimLanguage(request.AcceptLanguage())
		if !strings.ContainsFunc(header, notPrintable) {
			c.Language = header
		}
	}
	return &c, c.Validate()
}

func (r *Router) send(ctx context.Context, m *Message) error {
	sender := r.senders[m.Type]
	if sender == nil {
		return noSender(m.Type)
	}
	if err := r.renderTemplate(m, sender); err != nil {
		return err
	}
	err := ctx.Err()
	if err == nil {
		err = callSender(ctx, sender, m)
	}
	if err != nil {
		return &sendError{m.Type, err}
	}
	return nil
}

func noSender(t Type) error {
	hint := ""
	if t == TypeSMS {
		hint = "; Plinth has no sender for text messages: " +
			"implement notifyx.Sender with your provider"
	}
	return fmt.Errorf("%w is registered for the type %s: "+
		"add notifyx.WithSender(%q, sender) to the router%s", ErrNoSender, t, string(t), hint)
}

// renderTemplate renders the template into the message. If only the sender has the
// template, the message stays unchanged.
func (r *Router) renderTemplate(m *Message, sender Sender) error {
	if m.Template == "" {
		return nil
	}
	if r.templates == nil || !r.templates.Has(m.Template) {
		if own, ok := sender.(TemplateSender); ok && own.HasTemplate(m.Template) {
			return nil
		}
		return fmt.Errorf("%w: %q", ErrNoTemplate, m.Template)
	}
	text, err := r.templates.Render(m.Template, m.Language, m.Variables)
	if err != nil {
		return err
	}
	if text.Subject != "" {
		m.Subject = text.Subject
	}
	m.Content, m.HTML, m.Template, m.Variables = text.Text, text.HTML, "", nil
	return m.Validate()
}

// callSender recovers from a panic of the sender. The panic value may contain content, so
// only its type is reported.
func callSender(ctx context.Context, sender Sender, m *Message) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("sender panicked with a %T", v)
			log.Error(ctx, "sender panicked",
				slog.String("id", m.ID), slog.String("type", string(m.Type)),
				slog.String("panic", fmt.Sprintf("%T", v)),
				slog.String("stack", string(debug.Stack())))
		}
	}()
	copied := *m
	return sender.Send(ctx, &copied)
}

// logResult logs a message without its recipients and content. The message may be
// invalid, so only valid fields are logged.
func logResult(ctx context.Context, m *Message, result Result, elapsed time.Duration) {
	outcome, id, kind := "sent", "", ""
	if !result.Success {
		outcome = "failed"
	}
	if xctx.ValidID(m.ID) {
		id = m.ID
	}
	if m.Type.valid() {
		kind = string(m.Type)
	}
	attrs := []slog.Attr{
		slog.String("id", id), slog.String("outcome", outcome), slog.Duration("took", elapsed),
		slog.String("type", kind), slog.Int("priority", int(m.Priority)),
	}
	if result.Success {
		log.Info(ctx, "message", attrs...)
		return
	}
	log.Warn(ctx, "message", append(attrs, slog.Int("error_code", result.ErrorCode))...)
}

// Handler returns the handler of the jobs that SendAsync stores, for job.WithHandlers. An
// ErrPermanent dead-letters the job immediately. An error with RetryAfter sets the delay
// of the retry; other errors use the backoff of jobs.
func (r *Router) Handler() job.Handler {
	return messages.Handle(func(ctx context.Context, m Message) error {
		_, err := r.Send(ctx, &m)
		return jobError(err)
	})
}

// maxRetryAfter limits the delay that a server may request.
const maxRetryAfter = 24 * time.Hour

// jobError converts an error of Send to one that the worker of jobs understands.
func jobError(err error) error {
	var later RetryAfterer
	switch {
	case errors.Is(err, ErrPermanent):
		return job.Dead(err)
	case errors.As(err, &later) && later.RetryAfter() > 0:
		return job.RetryAfter(err, min(later.RetryAfter(), maxRetryAfter))
	default:
		return err
	}
}
