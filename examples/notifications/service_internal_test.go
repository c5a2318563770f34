//go:build unix

package main

import (
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/plinthgo/plinth/examples/notifications/internal/handler"
)

// freePort returns an unused port outside of the ephemeral range.
func freePort(t *testing.T) string {
	t.Helper()
	for range 100 {
		port := strconv.Itoa(20_000 + rand.IntN(10_000))
		l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:"+port)
		if err == nil {
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			return port
		}
	}
	t.Fatal("no port is free")
	return ""
}

func TestService(t *testing.T) {
	t.Parallel()

	t.Run("runs without configuration", func(t *testing.T) {
		t.Parallel()
		p := launch(t, t.TempDir(), "PLINTH_PORT="+freePort(t))
		p.signUp("ada", "Ada@example.org", "zh")
		var mail, hook bool
		for !mail || !hook { // in either order
			switch l := p.await("mail arrived", "webhook arrived"); l.Msg {
			case "mail arrived":
				mail = true
				if l.Subject != "欢迎使用 Notifications" ||
					!slices.Equal(l.To, []string{"ada@example.org"}) ||
					!strings.Contains(l.Text, "ada，您好") {
					t.Errorf("mail = %+v", l)
				}
			case "webhook arrived":
				hook = true
				if l.Type != "user.created" {
					t.Errorf("webhook = %+v", l)
				}
			}
		}
		p.stop()
	})

	t.Run("sends email, webhook and report", func(t *testing.T) {
		t.Parallel()
		mails, hooks := openMailbox(t, nil), openInbox(t)
		env := append(slices.Concat(mails.env, hooks.env), "NOTIFICATIONS_REPORT_SPEC=* * * * * *",
			"NOTIFICATIONS_REPORT_TO=boss@example.org")
		p := launch(t, t.TempDir(), env...)
		p.signUp("ada", "ada@example.org", "en")
		if m := mails.next(t, "ada@example.org"); m.Subject != "Welcome to Notifications" ||
			!strings.HasSuffix(m.ID, "@example.org>") {
			t.Errorf("mail = %+v", m)
		}
		if hook := hooks.next(t); !strings.HasPrefix(hook.body, `{"type":"user.created",`) ||
			!strings.Contains(hook.body, `"username":"ada"`) {
			t.Errorf("webhook = %s", hook.body)
		}
		if m := mails.next(t, "boss@example.org"); m.Subject != "New users: 1" {
			t.Errorf("report = %+v", m)
		}

		status, envelope := p.request(http.MethodPost, "/api/v1/signup", "en",
			person("ada", "countess@example.org"), nil)
		if status != http.StatusBadRequest || envelope.Output != "EXISTED" {
			t.Errorf("duplicate name = %d %+v", status, envelope)
		}
		p.signUp("bob", "bob@example.org", "en")
		if hook := hooks.next(t); !strings.Contains(hook.body, `"username":"bob"`) {
			t.Errorf("webhook after a rejected sign-up = %s", hook.body)
		}
		if m := mails.next(t, "boss@example.org"); m.Subject != "New users: 1" {
			t.Errorf("second report = %+v", m)
		}
		p.stop()
		_, secret, _ := strings.Cut(hooks.env[1], "=")
		for _, private := range []string{
			secret, "ada@", "countess@", "bob@", "boss@", "your account is ready",
		} {
			if strings.Contains(p.out.String(), private) {
				t.Errorf("the log contains %s:\n%s", private, p.out.String())
			}
		}
	})

	t.Run("replays a rejected email", func(t *testing.T) {
		t.Parallel()
		mails, hooks := openMailbox(t, nil), openInbox(t)
		mails.closed.Store(true)
		p := launch(t, t.TempDir(), slices.Concat(mails.env, hooks.env)...)
		p.signUp("eve", "eve@example.org", "en")
		first := mails.next(t, "eve@example.org")
		dead := p.deadJobs(1)
		if dead[0].Kind != "plinth.notify" || dead[0].Attempts != 1 ||
			!strings.Contains(dead[0].Error, "554") {
			t.Fatalf("dead jobs = %+v", dead)
		}
		if strings.Contains(dead[0].Error, "eve") {
			t.Errorf("the error contains an address: %s", dead[0].Error)
		}

		mails.closed.Store(false)
		path := "/api/v1/jobs/" + dead[0].ID + "/replay"
		status, envelope := p.request(http.MethodPost, path, "en", nil, nil)
		if status != http.StatusOK {
			t.Fatalf("replay = %d %+v", status, envelope)
		}
		if m := mails.next(t, "eve@example.org"); m.ID != first.ID {
			t.Errorf("mail = %+v, want the Message-ID %s", m, first.ID)
		}
		p.deadJobs(0)
		p.stop()
	})

	t.Run("waits for an email in flight during shutdown", func(t *testing.T) {
		t.Parallel()
		hold := make(chan struct{})
		mails, hooks := openMailbox(t, hold), openInbox(t)
		p := launch(t, t.TempDir(), slices.Concat(mails.env, hooks.env)...)
		p.signUp("ada", "ada@example.org", "en")
		mails.next(t, "ada@example.org")
		p.signal()
		p.await("stopping")
		close(hold)
		if code := p.exit(); code != 0 ||
			!strings.Contains(p.out.String(), "mail accepted by the server") {
			t.Errorf("exit code = %d, want 0 after the mail was sent:\n%s", code, p.out.String())
		}
		if len(mails.mails) != 0 {
			t.Error("the mail was sent twice")
		}
	})
}

// TestService_Crash kills the process after it sent the mail and the webhook, before it
// stored the results.
func TestService_Crash(t *testing.T) {
	t.Parallel()
	hold := make(chan struct{})
	mails, hooks, dir := openMailbox(t, hold), openInbox(t), t.TempDir()
	hooks.closed.Store(true)
	env := slices.Concat(mails.env, hooks.env)

	p := launch(t, dir, env...)
	p.signUp("ada", "ada@example.org", "zh")
	mail, hook := mails.next(t, "ada@example.org"), hooks.next(t)
	p.kill()
	close(hold)
	hooks.closed.Store(false)

	p = launch(t, dir, env...)
	if m := mails.next(t, "ada@example.org"); m.ID != mail.ID ||
		m.Subject != "欢迎使用 Notifications" || m.Text != mail.Text {
		t.Errorf("mail after the restart = %+v, want %+v", m, mail)
	}
	if repeated := hooks.next(t); repeated != hook {
		t.Errorf("webhook after the restart = %v, want %v", repeated, hook)
	}
	p.stop()
}

// deadJobs waits until n jobs are dead-lettered, and returns them.
func (p *process) deadJobs(n int) []handler.JobResponse {
	p.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for timeout := time.After(10 * time.Second); ; {
		var dead []handler.JobResponse
		status, envelope := p.request(http.MethodGet, "/api/v1/jobs/dead", "en", nil, &dead)
		if status == http.StatusOK && len(dead) == n {
			return dead
		}
		select {
		case <-tick.C:
		case <-timeout:
			p.kill()
			p.t.Fatalf("dead jobs = %d %s: %+v, want %d\n%s",
				status, envelope.Output, dead, n, p.out.String())
		}
	}
}
