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

// inbox is a receiver in memory.
type inbox struct {
	mu      sync.Mutex
	mode    notifytest.Mode
	arrived []notifytest.Arrival
}

func (*inbox) Recipient(i int) string { return fmt.Sprintf("reader-%d@example.com", i) }

func (i *inbox) SetMode(m notifytest.Mode) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.mode = m
}

func (i *inbox) Arrived() []notifytest.Arrival {
	i.mu.Lock()
	defer i.mu.Unlock()
	return slices.Clone(i.arrived)
}

var (
	errBusy   = errors.New("busy")
	errNever  = errors.New("never")
	errClosed = errors.New("closed")
)

func (i *inbox) receive(ctx context.Context, a notifytest.Arrival) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	switch i.mode {
	case notifytest.FailTemporarily:
		return errBusy
	case notifytest.FailPermanently:
		return errNever
	case notifytest.Hang:
		i.mu.Unlock()
		<-ctx.Done()
		i.mu.Lock()
		return ctx.Err()
	default:
		i.arrived = append(i.arrived, a)
		return nil
	}
}

// fakeSender is a sender with steps that a defect can replace.
type fakeSender struct {
	inbox *inbox

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

func newFakeSender() *fakeSender {
	return &fakeSender{
		inbox:    &inbox{},
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
func (c *fakeSender) Send(ctx context.Context, m *notifyx.Message) error {
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
		Mark: c.mark(m), To: slices.Clone(m.To), Subject: m.Subject, Content: m.Content,
	}
	c.arrival(&a)
	return c.after(m, c.inbox.receive(ctx, a))
}

// Close rejects further messages.
func (c *fakeSender) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	c.times++
	return c.closing(c.times)
}

// acceptInvalid skips one validation of messages.
func acceptInvalid(reason string) func(c *fakeSender) {
	return func(c *fakeSender) {
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

// harness returns a harness for senders with a defect.
func harness(apply func(c *fakeSender)) notifytest.Harness {
	return notifytest.Harness{
		Type: "PIGEON",
		Open: func(testing.TB) (notifyx.Sender, notifytest.Receiver) {
			c := newFakeSender()
			apply(c)
			return c, c.inbox
		},
	}
}
