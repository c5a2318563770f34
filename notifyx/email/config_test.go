package email_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/notifyx/email"
)

func sprint(format string, args ...any) string { return fmt.Sprintf(format, args...) }

// setenv sets the EMAIL_* variables. Variables missing in values are empty.
func setenv(t *testing.T, values map[string]string) {
	t.Helper()
	for _, key := range []string{"HOST", "PORT", "USER", "PASS", "FROM", "FROM_NAME", "TLS"} {
		t.Setenv("EMAIL_"+key, values["EMAIL_"+key])
	}
}

func TestInitClient(t *testing.T) {
	t.Run("reports every problem with its variable", func(t *testing.T) {
		for _, tc := range []struct {
			name string
			env  map[string]string
			want []string
		}{
			{"no variables", nil, []string{"EMAIL_HOST: is missing", "EMAIL_FROM: is missing"}},
			{
				"all variables invalid",
				map[string]string{
					"EMAIL_HOST": "mail example", "EMAIL_PORT": "70000",
					"EMAIL_PASS": password, "EMAIL_FROM": "a@b, c@d",
					"EMAIL_FROM_NAME": "x\ny", "EMAIL_TLS": "ssl",
				},
				[]string{
					"EMAIL_HOST:", "EMAIL_PORT:", "EMAIL_USER: is missing", "EMAIL_FROM:",
					"EMAIL_FROM_NAME:", "EMAIL_TLS:",
				},
			},
			{
				"a user without a password",
				map[string]string{
					"EMAIL_HOST": "h", "EMAIL_FROM": "a@b.example", "EMAIL_USER": "u",
				},
				[]string{"EMAIL_PASS: is missing"},
			},
			{
				"a password without encryption",
				map[string]string{
					"EMAIL_HOST": "h", "EMAIL_FROM": "a@b.example", "EMAIL_USER": "u",
					"EMAIL_PASS": password, "EMAIL_TLS": "none",
				},
				[]string{"EMAIL_TLS: \"none\" sends the password unencrypted"},
			},
			{
				"a password with a line break",
				map[string]string{
					"EMAIL_HOST": "h", "EMAIL_FROM": "a@b.example", "EMAIL_USER": "u",
					"EMAIL_PASS": password + "\n",
				},
				[]string{"EMAIL_PASS: contains a line break"},
			},
			{
				"a port that is not a number",
				map[string]string{
					"EMAIL_HOST": "h", "EMAIL_FROM": "a@b.example", "EMAIL_PORT": "smtp",
				},
				[]string{"EMAIL_PORT: \"smtp\" is not an integer"},
			},
			{
				"two names",
				map[string]string{
					"EMAIL_HOST": "h", "EMAIL_FROM": "N <a@b.example>", "EMAIL_FROM_NAME": "M",
				},
				[]string{"EMAIL_FROM:"},
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				setenv(t, tc.env)
				_, err := email.InitClient(t.Context())
				if err == nil || strings.Contains(err.Error(), password) {
					t.Fatalf("InitClient = %v", err)
				}
				if got := strings.Count(err.Error(), "\n") + 1; got != len(tc.want) {
					t.Errorf("%d lines, want %d:\n%v", got, len(tc.want), err)
				}
				for _, want := range tc.want {
					if !strings.Contains(err.Error(), want) {
						t.Errorf("the error lacks %q:\n%v", want, err)
					}
				}
			})
		}
	})

	t.Run("does not need a server", func(t *testing.T) {
		setenv(t, map[string]string{"EMAIL_HOST": "mail.invalid", "EMAIL_FROM": "a@b.example"})
		value, err := email.InitClient(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		client, ok := value.(*email.EmailClient)
		if !ok {
			t.Fatalf("InitClient returned a %T", value)
		}
		if _, checks := value.(interface{ CheckHealth() error }); checks {
			t.Error("InitClient registered a readiness check")
		}
		if text := client.String(); !strings.Contains(text,
			`port=587 user="" from="a@b.example" from_name="" tls="starttls"`) {
			t.Errorf("client = %s", text)
		}
		if err := client.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})

	t.Run("reads the environment", func(t *testing.T) {
		s := startServer(t, nil)
		setenv(t, map[string]string{
			"EMAIL_HOST": "127.0.0.1",
			"EMAIL_PORT": fmt.Sprint(s.port), "EMAIL_FROM": "a@b.example",
			"EMAIL_FROM_NAME": "名", "EMAIL_TLS": "none",
		})
		value, err := email.InitClient(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		client := value.(*email.EmailClient)
		if err := client.Send(t.Context(), hello()); err != nil {
			t.Error(err)
		}
		if err := client.Close(t.Context()); err != nil {
			t.Error(err)
		}
		header, _ := parse(t, s.got()[0].data)
		if from, _ := header.Text("From"); from != "名 <a@b.example>" {
			t.Errorf("From = %q", from)
		}
	})
}

func TestGetClient(t *testing.T) {
	client := newClient(t, config(1))
	ctx := contextWith(t.Context(), xctx.EmailClientKey, client)
	if got, err := email.GetClient(ctx); err != nil || got != client ||
		email.MustGetClient(ctx) != client {
		t.Errorf("GetClient = %v, %v", got, err)
	}
	if _, err := email.GetClient(t.Context()); err == nil {
		t.Error("GetClient found a client in an empty context")
	}
	defer func() {
		if recover() == nil {
			t.Error("MustGetClient did not panic")
		}
	}()
	email.MustGetClient(t.Context())
}

func TestConfig_Format(t *testing.T) {
	c := config(25)
	client := newClient(t, c)
	data, err := json.Marshal(map[string]any{"config": c})
	if err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("x",
		slog.Any("config", c), slog.Any("client", client))
	sender := email.NewSender(client)
	wrapper := struct {
		Config email.Config
		client *email.EmailClient
		sender any
		nested struct{ client *email.EmailClient }
	}{Config: c, client: client, sender: sender}
	wrapper.nested.client = client
	verbs := strings.Join([]string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"}, " ")
	for _, text := range []string{
		sprint(verbs, c, c, c, c, c, c, c), sprint(verbs, client, client, client, client, client,
			client, client), string(data), log.String(),
		sprint(verbs, sender, sender, sender, sender, sender, sender, sender),
		sprint(verbs, &wrapper, &wrapper, &wrapper, &wrapper, &wrapper, &wrapper, &wrapper),
		sprint(verbs, wrapper, wrapper, wrapper, wrapper, wrapper, wrapper, wrapper),
	} {
		if strings.Contains(text, password) || strings.Contains(text, sprint("%x", password)) {
			t.Errorf("formatted as %s", text)
		}
	}
}

func TestNew_NegativeLimits(t *testing.T) {
	c := config(25)
	c.Tries, c.DialTimeout, c.MaxSize, c.LocalName = -1, -1, -1, "a b"
	_, err := email.New(c)
	for _, want := range []string{"Tries", "DialTimeout", "MaxSize", "LocalName"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error lacks %s: %v", want, err)
		}
	}
}
