package notifyx

import (
	"context"
	"errors"
	"fmt"
)

// Option configures a Router.
type Option func(*config)

type config struct {
	ctx    context.Context // valid during the call of New only
	router Router
	errs   []error
}

func (c *config) addError(option, problem string) {
	c.errs = append(c.errs, fmt.Errorf("notifyx: %s: %s", option, problem))
}

// WithSender registers the sender of a type. The caller owns the sender and closes it.
func WithSender(t Type, s Sender) Option {
	return func(c *config) { c.register("WithSender", t, s) }
}

// WithSenderFrom registers the sender that find returns. InitRouter calls find at
// startup, so that find can return a sender created by another component. New calls find
// with a context without an application.
func WithSenderFrom(t Type, find func(ctx context.Context) (Sender, error)) Option {
	return func(c *config) {
		if find == nil {
			c.addError("WithSenderFrom", fmt.Sprintf("the function for %q is nil", string(t)))
			return
		}
		s, err := find(c.ctx)
		if err != nil {
			c.errs = append(c.errs,
				fmt.Errorf("notifyx: the sender for %q: %w", string(t), err))
			return
		}
		c.register("WithSenderFrom", t, s)
	}
}

func (c *config) register(option string, t Type, s Sender) {
	switch {
	case !t.valid():
		c.addError(option, fmt.Sprintf(
			"%q is not a type: 1 to 32 of A-Z, 0-9 and _, the first a letter",
			string(t)))
	case s == nil:
		c.addError(option, fmt.Sprintf("the sender for %q is nil", string(t)))
	case c.router.senders[t] != nil:
		c.addError(option, fmt.Sprintf("the type %q has two senders", string(t)))
	default:
		c.router.senders[t] = s
	}
}

// WithTemplates sets the templates that Message.Template refers to.
func WithTemplates(t *Templates) Option {
	return func(c *config) {
		if t == nil {
			c.errs = append(c.errs, errors.New("notifyx: WithTemplates: the templates are nil"))
			return
		}
		c.router.templates = t
	}
}
