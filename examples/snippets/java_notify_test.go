package snippets_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/plinthgo/plinth/asyncx/job"
	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/notifyx"
)

// javaSMS is a sender double that records text messages.
type javaSMS struct{ sent []string }

// Send implements notifyx.Sender.
func (s *javaSMS) Send(_ context.Context, m *notifyx.Message) error {
	if err := m.Validate(); err != nil {
		return err
	}
	s.sent = append(s.sent, m.Content)
	return nil
}

func TestJavaMessage(t *testing.T) {
	t.Parallel()
	sms := &javaSMS{}
	templates := notifyx.NewTemplates()
	err := templates.Add("code", "en", notifyx.PartText, "Hello ${name}, your code is ${code}",
		notifyx.SyntaxVariables)
	if err != nil {
		t.Fatal(err)
	}
	router, err := notifyx.New(notifyx.WithSender(notifyx.TypeSMS, sms),
		notifyx.WithTemplates(templates))
	if err != nil {
		t.Fatal(err)
	}
	result, err := router.Send(t.Context(), &notifyx.Message{
		Type: notifyx.TypeSMS, To: []string{"+4912345"}, Priority: job.PriorityHigh,
		Template: "code", Variables: map[string]any{"name": "Ada", "code": 1234},
	})
	if err != nil || !result.Success || len(sms.sent) != 1 ||
		sms.sent[0] != "Hello Ada, your code is 1234" {
		t.Errorf("Send = %+v, %v, sent %q", result, err, sms.sent)
	}
	text, _ := json.Marshal(result)
	t.Logf("%s", text)
	result, err = router.Send(t.Context(), &notifyx.Message{
		Type: notifyx.TypeEmail,
		To:   []string{"ada@example.org"}, Content: "x",
	})
	if !errors.Is(err, notifyx.ErrNoSender) || result.ErrorCode != xerror.ConfigError.GetCode() {
		t.Errorf("Send = %+v, %v", result, err)
	}
	text, _ = json.Marshal(result)
	t.Logf("%s", text)
}
