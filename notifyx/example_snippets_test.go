package notifyx_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/plinthgo/plinth/notifyx"
	"github.com/plinthgo/plinth/notifyx/notifytest"
)

func TestConformance(t *testing.T) {
	notifytest.Run(t, notifytest.Harness{Type: notifyx.TypeSMS, Open: open})
}

func open(testing.TB) (notifyx.Sender, notifytest.Receiver) {
	c := &carrier{}
	return c, c
}

// carrier is a sender and the receiver of its messages.
type carrier struct {
	mu      sync.Mutex
	mode    notifytest.Mode
	arrived []notifytest.Arrival
}

// Send implements notifyx.Sender.
func (c *carrier) Send(ctx context.Context, m *notifyx.Message) error {
	if err := m.Validate(); err != nil {
		return err
	}
	return c.receive(ctx, m)
}

func (c *carrier) receive(ctx context.Context, m *notifyx.Message) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch c.mode {
	case notifytest.FailTemporarily:
		return errors.New("too many messages")
	case notifytest.FailPermanently:
		return notifyx.Permanent(errors.New("no such number"))
	case notifytest.Hang:
		<-ctx.Done()
	case notifytest.Accept:
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	c.arrived = append(c.arrived, notifytest.Arrival{
		Mark: m.ID, To: slices.Clone(m.To), Subject: m.Subject, Content: m.Content,
	})
	return nil
}

// Recipient implements notifytest.Receiver.
func (*carrier) Recipient(i int) string { return fmt.Sprintf("+49123450%d", i) }

// SetMode implements notifytest.Receiver.
func (c *carrier) SetMode(m notifytest.Mode) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mode = m
}

// Arrived implements notifytest.Receiver.
func (c *carrier) Arrived() []notifytest.Arrival {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.arrived)
}
