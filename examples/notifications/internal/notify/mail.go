package notify

import (
	"context"
	"embed"
	"errors"
	"log/slog"
	"time"

	"github.com/plinthgo/plinth/asyncx/job"
	"github.com/plinthgo/plinth/core/common/xctxutil"
	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/examples/notifications/internal/entity"
	"github.com/plinthgo/plinth/examples/notifications/internal/sink"
	"github.com/plinthgo/plinth/notifyx"
	"github.com/plinthgo/plinth/notifyx/email"
)

const (
	sinkKey  xctx.ContextKey = "notifications_sink"
	reportTo xenv.EnvKey     = "NOTIFICATIONS_REPORT_TO"
)

//go:embed templates
var templates embed.FS

// Welcome stores the mail that greets a user, in the transaction of ctx. Its language is
// the request's, and its id, which makes the Message-ID, the same at each try.
func Welcome(ctx context.Context, user *entity.User) error {
	_, err := notifyx.SendAsync(ctx, &notifyx.Message{
		ID: "welcome-" + user.ID.String(), Type: notifyx.TypeEmail,
		To:       []string{email.Address(user.Username, user.Email)},
		Template: "welcome",
		Variables: map[string]any{
			"app_name": "Notifications", "user_name": user.Username,
			"action_url": "https://example.org/start", "support_email": "help@example.org",
		},
	})
	return err
}

// Report stores the mail that tells the team how many users were new at a time, in the
// transaction of ctx.
func Report(ctx context.Context, at time.Time, users int64) error {
	_, err := notifyx.SendAsync(ctx, &notifyx.Message{
		ID: "report-" + at.UTC().Format("20060102T150405Z"), Type: notifyx.TypeEmail,
		Priority: job.PriorityLow,
		To:       []string{xenv.GetEnvString(reportTo, "team@example.org")}, Language: "en",
		Template: "report", Variables: map[string]any{
			"users": users,
			"at":    at.UTC().Format(time.DateTime),
		},
	})
	return err
}

// openMail is the node of the mail client: that of EMAIL_*, or, where they name no
// server, that of the sink.
func openMail(ctx context.Context) (any, error) {
	config, err := mailConfig(ctx)
	if err != nil {
		return nil, err
	}
	client, err := email.New(config)
	if err != nil {
		return nil, err
	}
	if err := client.AddTemplateFS(templates, "templates/*"); err != nil {
		return nil, errors.Join(err, client.Close(ctx))
	}
	return client, nil
}

func mailConfig(ctx context.Context) (email.Config, error) {
	server := xctxutil.MustGet[*sink.Server](ctx, sinkKey)
	if server == nil {
		return email.ConfigFromEnv()
	}
	return email.Config{
		Host: server.Host(), Port: server.Port(), TLS: "none", // which never leaves this machine
		From: xenv.GetEnvString("EMAIL_FROM", "hello@example.org"), FromName: "Notifications",
	}, nil
}

// startSink is the node of a mail server that logs what it gets, where EMAIL_HOST names
// no other one.
func startSink(ctx context.Context) (any, error) {
	if xenv.GetEnvString("EMAIL_HOST", "") != "" {
		return (*sink.Server)(nil), nil
	}
	log := xlog.WithName(xlog.NamedSERV, "sink")
	return sink.Listen(ctx, func(m sink.Mail) error {
		// A service never logs what it writes to people. Here the mailbox is the log, and
		// the addresses are made up.
		log.Info(ctx, "mail arrived",
			slog.Any("to", m.To), slog.String("subject", m.Subject), slog.String("text", m.Text),
			slog.String("message_id", m.ID))
		return nil
	})
}
