package email

import (
	"context"
	"errors"

	"github.com/plinthgo/plinth/notifyx"
)

// sender adapts a client to notifyx.Sender.
type sender struct{ client *EmailClient }

// NewSender returns a sender for the type notifyx.TypeEmail. The caller owns and closes
// the client.
//
//	notifyx.WithSender(notifyx.TypeEmail, email.NewSender(client))
//
// All recipients of a message see each other. Templates that the router does not have are
// those of the client. If client is nil, NewSender returns nil, which notifyx.New
// rejects.
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
