package email

import (
	"context"
	"errors"

	"github.com/plinthgo/plinth/notifyx"
)

// sender is a client as the sender of notifyx's messages.
type sender struct{ client *EmailClient }

// NewSender returns the sender of the type notifyx.TypeEmail over a client, which stays
// the caller's to close:
//
//	notifyx.WithSender(notifyx.TypeEmail, email.NewSender(client))
//
// All recipients of a message see one another. A template that the router does not have
// is the client's. Of a nil client it returns nil, which notifyx.New refuses.
func NewSender(client *EmailClient) notifyx.TemplateSender {
	if client == nil {
		return nil
	}
	return sender{client}
}

// Send implements notifyx.Sender.
func (s sender) Send(ctx context.Context, m *notifyx.Message) error {
	if err := m.Validate(); err != nil {
		return err
	}
	if m.Type != notifyx.TypeEmail {
		return notifyx.InvalidMessage(errors.New("type: is not EMAIL"))
	}
	return s.client.Send(ctx, &Message{
		ID: m.ID, Date: m.CreatedAt, To: m.To, Subject: m.Subject, Text: m.Content, HTML: m.HTML,
		Template: m.Template, Variables: m.Variables, Language: m.Language,
	})
}

// HasTemplate implements notifyx.TemplateSender.
func (s sender) HasTemplate(name string) bool {
	return s.client.own.Has(name) || s.client.builtin.Has(name)
}
