package notifyx_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plinthgo/plinth/asyncx/job"
	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/notifyx"
)

func TestMessage_Validate(t *testing.T) {
	t.Run("reports every problem without values", func(t *testing.T) {
		many := make([]string, 1000+1)
		for i := range many {
			many[i] = "SECRET"
		}
		for _, tc := range []struct {
			name string
			m    *notifyx.Message
			want []string
		}{
			{"nil", nil, []string{"the message is nil"}},
			{"zero", &notifyx.Message{}, []string{
				"type: is missing", "to: no recipient", "content: neither content nor a template",
			}},
			{
				"everything", &notifyx.Message{
					ID: "SECRET id", Type: "secret", Priority: 5, Language: "SECRET\n",
					To:      []string{" ", "SECRET\r\nBcc: x", strings.Repeat("SECRET", 400)},
					Subject: "SECRET\nBcc: x", Content: "SECRET\xff", HTML: "SECRET\xff",
					Template: "SECRET/..", Variables: map[string]any{"f": func() {}},
				},
				[]string{
					"id: 1 to 64", "type: 1 to 32", "priority: 1 to 4", "language: at most 256",
					"recipient 1 is empty", "recipient 2 has a line break",
					"recipient 3 is longer", "subject: has a line break", "content: is not UTF-8",
					"html: is not UTF-8", "template: 1 to 100",
					"template: cannot be combined", `variables: variable "f" of type func() cannot`,
				},
			},
			{
				"many", message(func(m *notifyx.Message) { m.To = many }),
				[]string{"to: more than 1000"},
			},
			{"long", message(func(m *notifyx.Message) {
				m.Subject, m.Content, m.HTML = strings.Repeat("S", 999),
					strings.Repeat("S", 1<<20+1),
					strings.Repeat("S", 1<<20+1)
				m.Language = strings.Repeat("S", 257)
			}), []string{
				"subject: longer than 998", "content: longer than 1048576",
				"html: longer than 1048576", "language: at most",
			}},
			{"year", message(func(m *notifyx.Message) {
				m.CreatedAt = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)
			}), []string{"created_at: the year"}},
			{"panicking", message(func(m *notifyx.Message) {
				m.Variables = map[string]any{"x": panicking{}}
			}), []string{
				`variables: variable "x" of type notifyx_test.panicking cannot`,
			}},
			{
				"negative", message(func(m *notifyx.Message) { m.Priority = -1 }),
				[]string{"priority: 1 to 4"},
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				err := tc.m.Validate()
				checkError(t, err, "SECRET", notifyx.ErrMessage, notifyx.ErrPermanent)
				for _, want := range tc.want {
					if !strings.Contains(err.Error(), want) {
						t.Errorf("error = %v, want %q in it", err, want)
					}
				}
				if n := strings.Count(err.Error(), "; ") + 1; n != len(tc.want) {
					t.Errorf("error = %v, want %d problems", err, len(tc.want))
				}
				if code := xerror.From(err).GetErrorCode(); code != xerror.ParameterError {
					t.Errorf("code = %v, want PARAMETER_ERROR", code)
				}
			})
		}
	})

	t.Run("accepts valid messages", func(t *testing.T) {
		for _, m := range []*notifyx.Message{
			message(),
			{
				Type: "WECHAT_2", To: []string{"李"}, Template: "welcome-2", ID: "order.17_a-b",
				Priority: job.PriorityLow, Language: "zh-CN,en;q=0.8",
			},
			{Type: notifyx.TypeWebhook, To: []string{"https://example.com/hook"}, Content: "{\n}"},
			{
				Type: notifyx.TypeSMS, To: []string{"+4912345"}, HTML: "<p>",
				Variables: map[string]any{"a": nil},
			},
		} {
			if err := m.Validate(); err != nil {
				t.Error(err)
			}
		}
	})
}

// panicking is a variable whose MarshalJSON panics.
type panicking struct{}

func (panicking) MarshalJSON() ([]byte, error) { panic("SECRET") }

func TestMessage_JSON(t *testing.T) {
	m := message(func(m *notifyx.Message) {
		m.ID, m.HTML, m.Template, m.Priority, m.Language = "a", "<p>", "welcome",
			job.PriorityHigh, "zh"
		m.CreatedAt = time.Date(2026, 2, 3, 4, 5, 6, 7000, time.UTC)
		m.Variables = map[string]any{
			"id": json.Number("9007199254740993"), "big": json.Number("18446744073709551615"),
			"f":  json.Number("1.5"),
			"in": map[string]any{"n": json.Number("1")},
		}
	})
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var got notifyx.Message
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(m, &got); diff != "" {
		t.Error(diff)
	}
	for _, key := range []string{
		`"id":`, `"to":`, `"subject":`, `"content":`, `"html":`,
		`"template":`, `"variables":`, `"type":"EMAIL"`, `"priority":1`, `"language":`,
		`"created_at":"2026-02-03T04:05:06.000007Z"`,
	} {
		if !strings.Contains(string(text), key) {
			t.Errorf("%s lacks %s", text, key)
		}
	}
	if text, err := json.Marshal(message()); err != nil ||
		strings.Contains(string(text), "created_at") {
		t.Errorf("JSON = %s, %v; want no created_at if it is zero", text, err)
	}
	if err := json.Unmarshal([]byte(`{"to":1}`), &got); err == nil {
		t.Error("invalid type accepted")
	}
}

func TestResult(t *testing.T) {
	s := &sender{}
	r := router(t, notifyx.WithSender(notifyx.TypeEmail, s))
	sent, _ := r.Send(t.Context(), message(func(m *notifyx.Message) { m.ID = "m1" }))
	s.err = notifyx.InvalidMessage(errors.New("SECRET"))
	failed, _ := r.Send(t.Context(), message(func(m *notifyx.Message) { m.ID = "m1" }))
	for _, result := range []notifyx.Result{sent, failed} {
		if result.ID != "m1" || result.Message == "" || result.Time.IsZero() ||
			result.Time.Location() != time.UTC {
			t.Errorf("result = %+v", result)
		}
	}
	if !sent.Success || sent.ErrorCode != 0 || failed.Success || failed.ErrorCode != 40011 ||
		strings.Contains(failed.Message, "SECRET") {
		t.Errorf("results = %+v and %+v", sent, failed)
	}
	text, err := json.Marshal(notifyx.Result{})
	const want = `{"success":false,"message":"","time":"0001-01-01T00:00:00Z",` +
		`"error_code":0,"id":""}`
	if err != nil || string(text) != want {
		t.Errorf("JSON = %s, want %s", text, want)
	}
}

func TestPermanent(t *testing.T) {
	if notifyx.Permanent(nil) != nil || notifyx.InvalidMessage(nil, nil) != nil {
		t.Error("Permanent(nil) is not nil")
	}
	err := notifyx.Permanent(errDown)
	checkError(t, err, "", notifyx.ErrPermanent, errDown)
	if err.Error() != errDown.Error() {
		t.Errorf("error = %v, want the text unchanged", err)
	}
}
