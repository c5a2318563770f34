package notifytest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/plinthgo/plinth/notifyx"
	"github.com/plinthgo/plinth/notifyx/notifytest"
)

// post is a receiver in memory.
type post struct {
	mu      sync.Mutex
	mode    notifytest.Mode
	arrived []notifytest.Arrival
}

func (*post) Recipient(i int) string { return fmt.Sprintf("reader-%d@example.com", i) }

func (p *post) Answer(m notifytest.Mode) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mode = m
}

func (p *post) Arrived() []notifytest.Arrival {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.arrived)
}

var (
	errBusy   = errors.New("busy")
	errNever  = errors.New("never")
	errClosed = errors.New("closed")
)

func (p *post) take(ctx context.Context, a notifytest.Arrival) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch p.mode {
	case notifytest.FailTemporarily:
		return errBusy
	case notifytest.FailPermanently:
		return errNever
	case notifytest.Hang:
		p.mu.Unlock()
		<-ctx.Done()
		p.mu.Lock()
		return ctx.Err()
	default:
		p.arrived = append(p.arrived, a)
		return nil
	}
}

// courier is a sender whose steps a defect may replace.
type courier struct {
	post *post

	mu     sync.Mutex
	closed bool

	validate func(m *notifyx.Message) error
	mark     func(m *notifyx.Message) string
	before   func(ctx context.Context, m *notifyx.Message) (context.Context, error)
	arrival  func(a *notifytest.Arrival)
	after    func(m *notifyx.Message, err error) error
	closing  func(times int) error
	times    int
}

func newCourier() *courier {
	return &courier{
		post:     &post{},
		validate: (*notifyx.Message).Validate,
		mark:     func(m *notifyx.Message) string { return m.ID },
		before: func(ctx context.Context, _ *notifyx.Message) (context.Context, error) {
			return ctx, ctx.Err()
		},
		arrival: func(*notifytest.Arrival) {},
		after: func(_ *notifyx.Message, err error) error {
			if errors.Is(err, errNever) {
				return notifyx.Permanent(err)
			}
			return err
		},
		closing: func(int) error { return nil },
	}
}

// Send implements notifyx.Sender.
func (c *courier) Send(ctx context.Context, m *notifyx.Message) error {
	if err := c.validate(m); err != nil {
		return err
	}
	c.mu.Lock()
	closed := c.closed
	c.mu.Unlock()
	if closed {
		return errClosed
	}
	ctx, err := c.before(ctx, m)
	if err != nil {
		return err
	}
	a := notifytest.Arrival{
		Mark: c.mark(m), To: slices.Clone(m.To), Subject: m.Subject,
		Content: m.Content,
	}
	c.arrival(&a)
	return c.after(m, c.post.take(ctx, a))
}

// Close lets nothing more out.
func (c *courier) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	c.times++
	return c.closing(c.times)
}

// lax accepts what validate would refuse for one reason.
func lax(reason string) func(c *courier) {
	return func(c *courier) {
		c.validate = func(m *notifyx.Message) error {
			err := m.Validate()
			if err != nil && strings.HasPrefix(strings.TrimPrefix(err.Error(),
				notifyx.ErrMessage.Error()+": "), reason) {
				return nil
			}
			return err
		}
	}
}

// harness opens couriers that are broken in the same way.
func harness(breaks func(c *courier)) notifytest.Harness {
	return notifytest.Harness{
		Type: "PIGEON",
		Open: func(testing.TB) (notifyx.Sender, notifytest.Receiver) {
			c := newCourier()
			breaks(c)
			return c, c.post
		},
	}
}
