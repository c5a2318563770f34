package notifyx_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/plinthgo/plinth/asyncx/job"
	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/major/xreg/xregnode"
	"github.com/plinthgo/plinth/notifyx"
)

func TestRouter_Send(t *testing.T) {
	t.Run("passes a message to the sender of its type", func(t *testing.T) {
		mail, hook := &sender{}, &sender{}
		r := router(t, notifyx.WithSender(notifyx.TypeEmail, mail),
			notifyx.WithSender(notifyx.TypeWebhook, hook))
		m := message()
		result, err := r.Send(t.Context(), m)
		if err != nil || !result.Success || result.ErrorCode != 0 || result.ID == "" ||
			result.Time.IsZero() {
			t.Fatalf("Send = %+v, %v", result, err)
		}
		got := mail.last(t)
		if got.ID != result.ID || got.Priority != job.PriorityDefault || got.Content != m.Content ||
			hook.count() != 0 {
			t.Errorf("the sender got %+v", got)
		}
		if got.CreatedAt.IsZero() || got.CreatedAt.Location() != time.UTC ||
			got.CreatedAt.Nanosecond()%1000 != 0 {
			t.Errorf("CreatedAt = %v, want now in UTC and whole microseconds", got.CreatedAt)
		}
		if m.ID != "" || m.Priority != 0 || !m.CreatedAt.IsZero() {
			t.Error("the caller's message was changed")
		}
		if _, err = r.Send(t.Context(), message(func(m *notifyx.Message) {
			m.ID = "mine"
		})); err != nil || mail.last(t).ID != "mine" {
			t.Errorf("ID = %q, %v; want the caller's", mail.last(t).ID, err)
		}
	})

	t.Run("fails without a sender and names the option", func(t *testing.T) {
		r := router(t, notifyx.WithSender(notifyx.TypeEmail, &sender{}))
		result, err := r.Send(t.Context(),
			message(func(m *notifyx.Message) { m.Type = notifyx.TypeSMS }))
		checkError(t, err, "ann@", notifyx.ErrNoSender)
		want := `notifyx: no sender is registered for the type SMS: ` +
			`add notifyx.WithSender("SMS", sender) to the router; ` +
			`Plinth has no sender for text messages: implement notifyx.Sender with your provider`
		if err.Error() != want {
			t.Errorf("error = %v, want %s", err, want)
		}
		if errors.Is(err, notifyx.ErrPermanent) || result.Success ||
			result.ErrorCode != xerror.ConfigError.GetCode() || result.ID == "" {
			t.Errorf("result = %+v of %v, want a configuration error that is not permanent",
				result, err)
		}
	})

	t.Run("rejects an invalid message", func(t *testing.T) {
		s := &sender{}
		r := router(t, notifyx.WithSender(notifyx.TypeEmail, s))
		for _, m := range []*notifyx.Message{
			nil,
			{},
			message(func(m *notifyx.Message) { m.Subject = "a\r\nBcc: x" }),
		} {
			result, err := r.Send(t.Context(), m)
			checkError(t, err, "", notifyx.ErrMessage)
			if result.Success || result.ErrorCode != 40011 || result.Time.IsZero() {
				t.Errorf("result = %+v", result)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		result, err := r.Send(ctx, message())
		checkError(t, err, "", context.Canceled)
		if s.count() != 0 || result.ErrorCode != xerror.Canceled.GetCode() {
			t.Errorf("%d messages were sent, and the code is %d", s.count(), result.ErrorCode)
		}
	})

	t.Run("renders the template", func(t *testing.T) {
		all := templates(t, map[string]string{
			"welcome.en.subject": "Hi ${name}", "welcome.en.txt": "Hello",
			"welcome.en.html":    "<p>${name}</p>",
			"welcome.zh.subject": "你好 ${name}", "welcome.zh.txt": "你好", "bare.txt": "x",
			"empty.subject": "x",
		})
		s, own := &sender{}, &provider{}
		own.own = "SMS_001"
		r := router(t, notifyx.WithSender(notifyx.TypeEmail, s),
			notifyx.WithSender(notifyx.TypeSMS, own), notifyx.WithTemplates(all))
		welcome := func(m *notifyx.Message) {
			m.Content, m.Template, m.Variables = "", "welcome", map[string]any{"name": "<Ann>"}
		}
		request := xctx.NewRequest(t.Context(), nil)
		request.SetAcceptLanguage("zh-CN")
		for _, tc := range []struct {
			name   string
			ctx    context.Context
			change func(m *notifyx.Message)
			want   string
		}{
			{
				"default language",
				t.Context(), func(*notifyx.Message) {}, "Hi <Ann>|Hello|<p>&lt;Ann&gt;</p>",
			},
			{"language of the request", request, func(*notifyx.Message) {}, "你好 <Ann>|你好|"},
			{
				"language of the message", request, func(m *notifyx.Message) { m.Language = "en" },
				"Hi <Ann>|Hello|<p>&lt;Ann&gt;</p>",
			},
			{
				"subject of the message",
				t.Context(), func(m *notifyx.Message) { m.Template = "bare" }, "Hi|x|",
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				if _, err := r.Send(tc.ctx, message(welcome, tc.change)); err != nil {
					t.Fatal(err)
				}
				got := s.last(t)
				if text := got.Subject + "|" + got.Content + "|" + got.HTML; text != tc.want ||
					got.Template != "" || got.Variables != nil {
					t.Errorf("sent %+v, want %s", got, tc.want)
				}
			})
		}
		before := s.count()
		_, err := r.Send(t.Context(),
			message(welcome, func(m *notifyx.Message) { m.Variables = nil }))
		checkError(t, err, "", notifyx.ErrTemplate, notifyx.ErrPermanent)
		result, err := r.Send(t.Context(),
			message(welcome, func(m *notifyx.Message) { m.Template = "other" }))
		checkError(t, err, "", notifyx.ErrNoTemplate)
		if result.ErrorCode != xerror.ConfigError.GetCode() {
			t.Errorf("code = %d", result.ErrorCode)
		}
		_, err = r.Send(t.Context(),
			message(welcome, func(m *notifyx.Message) { m.Template = "empty" }))
		checkError(t, err, "", notifyx.ErrMessage)
		if s.count() != before {
			t.Error("a message without its template was sent")
		}
		sms := message(welcome, func(m *notifyx.Message) {
			m.Type, m.Template = notifyx.TypeSMS, "SMS_001"
		})
		if _, err := r.Send(t.Context(), sms); err != nil || own.last(t).Template != "SMS_001" ||
			own.last(t).Variables["name"] != "<Ann>" {
			t.Errorf("the provider got %+v, %v; want its template as it is", own.last(t), err)
		}
	})

	t.Run("maps errors to error codes", func(t *testing.T) {
		for _, tc := range []struct {
			name string
			kind notifyx.Type
			err  error
			want *xerror.ErrorCode
		}{
			{"email", notifyx.TypeEmail, errDown, xerror.EmailError},
			{"webhook", notifyx.TypeWebhook, notifyx.Permanent(errDown), xerror.WebhookError},
			{"text message", notifyx.TypeSMS, errDown, xerror.SmsError},
			{"custom type", "WECHAT", errDown, xerror.ThirdPartyError},
			{
				"deadline exceeded",
				notifyx.TypeEmail, context.DeadlineExceeded, xerror.GatewayTimeout,
			},
			{
				"code of the sender",
				notifyx.TypeEmail, xerror.Wrap(xerror.RateLimited, "", errDown),
				xerror.RateLimited,
			},
			{
				"invalid for the sender",
				notifyx.TypeEmail, notifyx.InvalidMessage(errDown), xerror.ParameterError,
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				s := &sender{err: tc.err}
				r := router(t, notifyx.WithSender(tc.kind, s))
				result, err := r.Send(t.Context(),
					message(func(m *notifyx.Message) { m.Type = tc.kind }))
				checkError(t, err, "", tc.err)
				if code := xerror.From(err).GetErrorCode(); code != tc.want ||
					result.ErrorCode != tc.want.GetCode() || result.Success {
					t.Errorf("code = %v, result = %+v; want %v", code, result, tc.want)
				}
				if errors.Is(err, notifyx.ErrPermanent) != errors.Is(tc.err, notifyx.ErrPermanent) {
					t.Errorf("%v: ErrPermanent differs from that of the sender error", err)
				}
			})
		}
	})

	t.Run("recovers from a panic and logs the stack", func(t *testing.T) {
		ctx, log := capture(t)
		r := router(t, notifyx.WithSender(notifyx.TypeEmail,
			&sender{do: func(*notifyx.Message) { panic("SECRET") }}))
		result, err := r.Send(ctx, message())
		if err == nil || result.Success || result.ErrorCode != xerror.EmailError.GetCode() {
			t.Fatalf("Send = %+v, %v", result, err)
		}
		checkError(t, err, "SECRET")
		if text := log.String(); !strings.Contains(text, "sender panicked") ||
			!strings.Contains(text, "fake_test.go") || strings.Contains(text, "SECRET") {
			t.Errorf("log = %s, want the stack and not the value", text)
		}
	})

	t.Run("logs no recipients and no content", func(t *testing.T) {
		ctx, log := capture(t)
		s := &sender{}
		r := router(t, notifyx.WithSender(notifyx.TypeEmail, s))
		m := message(func(m *notifyx.Message) {
			m.ID, m.To = "m1", []string{"Ann <Ann.SECRET@example.com>"}
			m.Subject, m.Content, m.HTML = "SECRET", "SECRET", "SECRET"
		})
		for _, s.err = range []error{
			nil,
			errors.New("550 no such user <ann.secret@EXAMPLE.com>, ann.SECRET@example.com"),
		} {
			_, err := r.Send(ctx, m)
			if err != nil && (strings.Contains(strings.ToLower(err.Error()), "secret") ||
				strings.Count(err.Error(), "***") != 2) {
				t.Errorf("error = %v, want the recipient masked", err)
			}
		}
		_, _ = r.Send(ctx, message(func(m *notifyx.Message) {
			m.ID, m.Type = "SECRET id", "SECRET type"
		}))
		text := log.String()
		if strings.Contains(strings.ToLower(text), "secret") ||
			strings.Contains(text, "example.com") {
			t.Errorf("log = %s", text)
		}
		for _, want := range []string{
			`"id":"m1"`, `"type":"EMAIL"`, `"outcome":"sent"`,
			`"outcome":"failed"`, `"took"`, `"name":"NOTI"`, `"error_code":50025`,
		} {
			if !strings.Contains(text, want) {
				t.Errorf("log = %s, want %s", text, want)
			}
		}
	})
}

func TestNew(t *testing.T) {
	_, err := notifyx.New(
		notifyx.WithSender("mail", &sender{}), notifyx.WithSender(notifyx.TypeSMS, nil),
		notifyx.WithSender("A", &sender{}), notifyx.WithSender("A", &sender{}),
		notifyx.WithTemplates(nil), nil,
		notifyx.WithSenderFrom("B", nil),
	)
	if err == nil {
		t.Fatal("New accepted invalid options")
	}
	for _, want := range []string{
		`"mail" is not a type`, `the sender for "SMS" is nil`, `"A" has two senders`,
		"the templates are nil",
		`the function for "B" is nil`,
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error = %v, want %s", err, want)
		}
	}
}

func TestInitRouter(t *testing.T) {
	nodes := &xregnode.Nodes{}
	nodes.Set("mailer", &sender{})
	ctx := xregnode.NewContext(t.Context(), nodes)
	if _, err := notifyx.GetRouter(ctx); err == nil || err.GetErrorCode() != xerror.ConfigError {
		t.Errorf("GetRouter = %v, want a ConfigError", err)
	}
	fromNode := notifyx.WithSenderFrom(notifyx.TypeEmail,
		func(ctx context.Context) (notifyx.Sender, error) {
			s, ok := ctx.Value(xctx.ContextKey("mailer")).(*sender)
			if !ok {
				return nil, errDown
			}
			return s, nil
		})
	value, err := notifyx.InitRouter(fromNode)(ctx)
	if err != nil {
		t.Fatal(err)
	}
	nodes.Set(notifyx.RouterKey, value)
	if result, err := notifyx.MustGetRouter(ctx).Send(ctx, message()); err != nil ||
		!result.Success {
		t.Errorf("Send = %+v, %v", result, err)
	}
	if _, err := notifyx.InitRouter(fromNode)(t.Context()); !errors.Is(err, errDown) ||
		!strings.Contains(fmt.Sprint(err), "EMAIL") {
		t.Errorf("error = %v, want the error of find", err)
	}
	defer func() {
		if recover() == nil {
			t.Error("MustGetRouter did not panic")
		}
	}()
	notifyx.MustGetRouter(t.Context())
}
