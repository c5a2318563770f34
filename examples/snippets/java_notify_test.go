package snippets_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	xError "github.com/plinthgo/plinth/core/common/xerror"
	xNotify "github.com/plinthgo/plinth/notifyx"
)

// javaTexts is a sender of text messages.
type javaTexts struct{ sent []string }

// Send implements xNotify.Sender.
func (s *javaTexts) Send(_ context.Context, m *xNotify.Message) (xNotify.Result, error) {
	err := m.Validate()
	if err == nil {
		s.sent = append(s.sent, m.Content)
	}
	return xNotify.NewResult(m, err), err
}

func TestJavaMessageIsSentWithItsResult(t *testing.T) {
	t.Parallel()
	texts := &javaTexts{}
	templates := xNotify.NewTemplates()
	err := templates.Add("code", "en", xNotify.PartText, "Hello ${name}, your code is ${code}", xNotify.SyntaxVariables)
	if err != nil {
		t.Fatal(err)
	}
	router, err := xNotify.New(xNotify.WithSender(xNotify.TypeSMS, texts), xNotify.WithTemplates(templates))
	if err != nil {
		t.Fatal(err)
	}
	result, err := router.Send(t.Context(), &xNotify.Message{
		Type: xNotify.TypeSMS, To: []string{"+4912345"}, Priority: xNotify.PriorityHigh,
		Template: "code", Variables: map[string]any{"name": "Ada", "code": 1234},
	})
	if err != nil || !result.Success || len(texts.sent) != 1 || texts.sent[0] != "Hello Ada, your code is 1234" {
		t.Errorf("Send = %+v, %v, sent %q", result, err, texts.sent)
	}
	text, _ := json.Marshal(result)
	t.Logf("%s", text)
	result, err = router.Send(t.Context(), &xNotify.Message{Type: xNotify.TypeEmail, To: []string{"ada@example.org"}, Content: "x"})
	if !errors.Is(err, xNotify.ErrNoSender) || result.ErrorCode != xError.ConfigError.GetCode() {
		t.Errorf("Send = %+v, %v", result, err)
	}
	text, _ = json.Marshal(result)
	t.Logf("%s", text)
}
