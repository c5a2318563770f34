package notifyx

import (
	"context"
	"errors"
	"fmt"
)

// Option configures a Router.
type Option func(*config)

// config is a router that is being made.
type config struct {
	ctx    context.Context // lives as long as one call of New
	router Router
	faults []error
}

func (c *config) refuse(option, what string) {
	c.faults = append(c.faults, fmt.Errorf("notifyx: %s: %s", option, what))
}

// WithSender registers the sender of a type. It stays the caller's.
func WithSender(t Type, s Sender) Option {
	return func(c *config) { c.register("WithSender", t, s) }
}

// WithSenderFrom registers a sender that is found when the node of InitRouter starts,
// such as one that another node made. With New, find gets a context without an
// application.
func WithSenderFrom(t Type, find func(ctx context.Context) (Sender, error)) Option {
	return func(c *config) {
		if find == nil {
			c.refuse("WithSenderFrom", fmt.Sprintf("the function for %q is nil", string(t)))
			return
		}
		s, err := find(c.ctx)
		if err != nil {
			c.faults = append(c.faults,
				fmt.Errorf("notifyx: the sender for %q: %w", string(t), err))
			return
		}
		c.register("WithSenderFrom", t, s)
	}
}

func (c *config) register(option string, t Type, s Sender) {
	switch {
	case !t.valid():
		c.refuse(option, fmt.Sprintf("%q is no type: 1 to 32 of A-Z, 0-9 and _, the first a letter",
			string(t)))
	case s == nil:
		c.refuse(option, fmt.Sprintf("the sender for %q is nil", string(t)))
	case c.router.senders[t] != nil:
		c.refuse(option, fmt.Sprintf("the type %q has two senders", string(t)))
	default:
		c.router.senders[t] = s
	}
}

// WithTemplates gives the templates that Message.Template names.
func WithTemplates(t *Templates) Option {
	return func(c *config) {
		if t == nil {
			c.faults = append(c.faults, errors.New("notifyx: WithTemplates: the templates are nil"))
			return
		}
		c.router.templates = t
	}
}
