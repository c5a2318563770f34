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

// Welcome stores the welcome email of a user in the transaction of ctx. It uses the
// language of the request. All attempts have the same ID and thus the same Message-ID.
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

// Report stores the report of the number of new users in the transaction of ctx.
func Report(ctx context.Context, at time.Time, users int64) error {
	_, err := notifyx.SendAsync(ctx, &notifyx.Message{
		ID: "report-" + at.UTC().Format("20060102T150405Z"), Type: notifyx.TypeEmail,
		Priority: job.PriorityLow, Language: "en",
		To:        []string{xenv.GetEnvString(reportTo, "team@example.org")},
		Template:  "report",
		Variables: map[string]any{"users": users, "at": at.UTC().Format(time.DateTime)},
	})
	return err
}

// openMail returns a client of the mail server that EMAIL_* configures, or of the
// built-in server if EMAIL_HOST is not set.
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
		Host: server.Host(), Port: server.Port(), TLS: "none", // loopback only
		From: xenv.GetEnvString("EMAIL_FROM", "hello@example.org"), FromName: "Notifications",
	}, nil
}

// startSink starts the built-in mail server, which logs messages, unless EMAIL_HOST is
// set.
func startSink(ctx context.Context) (any, error) {
	if xenv.GetEnvString("EMAIL_HOST", "") != "" {
		return (*sink.Server)(nil), nil
	}
	log := xlog.WithName(xlog.NamedSERV, "sink")
	return sink.Listen(ctx, func(m sink.Mail) error {
		// Do not log messages in a real service. Here the log replaces the mailbox, and
		// the addresses are fictitious.
		log.Info(ctx, "mail arrived",
			slog.Any("to", m.To), slog.String("subject", m.Subject), slog.String("text", m.Text),
			slog.String("message_id", m.ID))
		return nil
	})
}
