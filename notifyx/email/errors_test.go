package email_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/notifyx"
	"github.com/plinthgo/plinth/notifyx/email"
)

func TestErrorCodes(t *testing.T) {
	closed, err := email.New(config(1))
	if err != nil {
		t.Fatal(err)
	}
	if err := closed.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	sendTo := func(s *faultyServer) error {
		conf := config(startFaultyServer(t, s).port)
		if s.stall != "" {
			conf.CommandTimeout = 2 * time.Second
		}
		return newClient(t, conf).Send(t.Context(), hello())
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	noVariables := newClient(t, config(1)).Send(t.Context(), fromTemplate("welcome", "en", nil))
	for _, tc := range []struct {
		name      string
		err       error
		is        error
		permanent bool
		want      *xerror.ErrorCode
	}{
		{
			"an invalid message",
			newClient(t, config(1)).Send(t.Context(), hello("x")), email.ErrMessage,
			true, xerror.ParameterError,
		},
		{
			"a template without its variables",
			noVariables, email.ErrMessage, true, xerror.ServerInternalError,
		},
		{
			"no STARTTLS",
			sendTo(&faultyServer{replies: map[string]string{"EHLO": "250 test"}}),
			email.ErrTLS, false, xerror.EmailError,
		},
		{
			"a connection closed in the handshake",
			sendTo(&faultyServer{drop: "tls"}), email.ErrTLS, false, xerror.EmailError,
		},
		{
			"a rejected login",
			sendTo(&faultyServer{replies: map[string]string{"AUTH": "535 no"}}),
			email.ErrAuth, false, xerror.EmailError,
		},
		{
			"a dropped connection", sendTo(&faultyServer{drop: "MAIL"}), email.ErrConnection, false,
			xerror.ServiceUnavailable,
		},
		{
			"a server that stalls", sendTo(&faultyServer{stall: "MAIL"}), email.ErrTimeout, false,
			xerror.ServiceUnavailable,
		},
		{
			"no reply to the content",
			sendTo(&faultyServer{drop: "content"}), email.ErrUncertain, false, xerror.EmailError,
		},
		{
			"rejected greeting",
			sendTo(&faultyServer{replies: map[string]string{"greeting": "554 no"}}), nil, false,
			xerror.EmailError,
		},
		{
			"temporarily rejected greeting",
			sendTo(&faultyServer{replies: map[string]string{"greeting": "421 no"}}), nil, false,
			xerror.ServiceUnavailable,
		},
		{
			"a closed client", closed.Send(t.Context(), hello()), email.ErrClosed, false,
			xerror.ServiceUnavailable,
		},
		{
			"a canceled context", newClient(t, config(1)).Send(canceled, hello()), context.Canceled,
			false, xerror.Canceled,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if tc.err == nil || tc.is != nil && !errors.Is(tc.err, tc.is) ||
				errors.Is(tc.err, notifyx.ErrPermanent) != tc.permanent {
				t.Errorf("error = %v, want %v, permanent %t", tc.err, tc.is, tc.permanent)
			}
			if got := xerror.From(tc.err).GetErrorCode(); got != tc.want {
				t.Errorf("code = %s, want %s", got.GetOutput(), tc.want.GetOutput())
			}
			if text := tc.err.Error(); !strings.HasPrefix(text, "email: ") ||
				strings.Count(text, "email: ") != 1 {
				t.Errorf("error = %q, want the prefix once", text)
			}
		})
	}
}

func TestEmailClient_Send_Unreachable(t *testing.T) {
	s := startFaultyServer(t, &faultyServer{replies: map[string]string{"AUTH": "535 no"}})
	err := newClient(t, config(s.port)).Send(t.Context(), hello(), hello(), hello())
	if !errors.Is(err, email.ErrAuth) || strings.Count(err.Error(), "message ") != 3 ||
		s.connections() != 1 {
		t.Errorf("Send = %v over %d connections, want three errors over one", err, s.connections())
	}
}

func TestInitClient_PlainTextWarning(t *testing.T) {
	for host, want := range map[string]bool{"mail.example.com": true, "localhost": false} {
		setenv(t, map[string]string{
			"EMAIL_HOST": host, "EMAIL_FROM": "a@b.example", "EMAIL_TLS": "none",
		})
		log, engine := capture(t)
		value, err := email.InitClient(xlog.NewContext(t.Context(), engine))
		if err != nil {
			t.Fatal(err)
		}
		if err := value.(*email.EmailClient).Close(t.Context()); err != nil {
			t.Error(err)
		}
		if got := strings.Contains(log.String(), `"warn"`) &&
			strings.Contains(log.String(), "EMAIL_TLS"); got != want {
			t.Errorf("%s: logged %q, want a warning: %t", host, log, want)
		}
	}
}
