package main

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/asyncx/job"
	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/major/plinthtest"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/cronx"
	"github.com/plinthgo/plinth/examples/notifications/internal/entity"
	"github.com/plinthgo/plinth/examples/notifications/internal/logic"
	"github.com/plinthgo/plinth/examples/notifications/internal/notify"
	"github.com/plinthgo/plinth/notifyx"
	"github.com/plinthgo/plinth/notifyx/webhook"
	"github.com/plinthgo/plinth/notifyx/webhook/signature"
)

const signup = "/api/v1/signup"

// person returns the body of a sign-up.
func person(name, address string) gin.H { return gin.H{"username": name, "email": address} }

// queued returns the number of waiting jobs by kind. These tests run no worker.
func queued(t *testing.T, ctx context.Context) map[string]int {
	t.Helper()
	records, err := job.MustGetQueue(ctx).List(ctx, job.Query{State: job.StateWaiting})
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]int{}
	for _, r := range records {
		kinds[r.Kind]++
	}
	return kinds
}

func TestSignUp(t *testing.T) {
	t.Parallel()

	t.Run("queues one email and one webhook", func(t *testing.T) {
		t.Parallel()
		app := plinthtest.New(t, options()...)
		var user entity.User
		r := app.Request(http.MethodPost, signup, person("ada", "ADA@example.org"))
		if r.Status() == http.StatusOK {
			r.Into(&user)
		}
		if user.ID.Gene() != xsnowflake.GeneUser || user.Username != "ada" ||
			user.Email != "ada@example.org" {
			t.Errorf("user = %+v", user)
		}
		if got := queued(t, app.Context()); got[notifyx.JobKind] != 1 || got[webhook.JobKind] != 1 {
			t.Errorf("jobs = %v, want one of each kind", got)
		}
	})

	t.Run("queues nothing if the transaction is rolled back", func(t *testing.T) {
		t.Parallel()
		app := plinthtest.New(t, options()...)
		failed := errors.New("later failure")
		err := xdb.Transaction(app.Context(), func(ctx context.Context) error {
			if _, err := logic.SignUp(ctx, "ada", "ada@example.org"); err != nil {
				return err
			}
			if got := queued(t, ctx); got[notifyx.JobKind] != 1 || got[webhook.JobKind] != 1 {
				t.Errorf("jobs within the transaction = %v, want one of each kind", got)
			}
			return failed
		})
		if !errors.Is(err, failed) {
			t.Fatal(err)
		}
		if got := queued(t, app.Context()); len(got) != 0 {
			t.Errorf("jobs = %v, want none", got)
		}
	})

	t.Run("stores no user if the email cannot be stored", func(t *testing.T) {
		t.Parallel()
		app := plinthtest.New(t, options()...)
		db := xdb.MustGetDB(app.Context())
		if err := db.Migrator().DropTable("plinth_jobs"); err != nil {
			t.Fatal(err)
		}
		r := app.Request(http.MethodPost, signup, person("ada", "ada@example.org"))
		if r.Status() != http.StatusInternalServerError {
			t.Errorf("sign-up = %d %s", r.Status(), r.Body())
		}
		var users int64
		if err := db.Model(&entity.User{}).Count(&users).Error; err != nil || users != 0 {
			t.Errorf("%d users are stored, %v, want none", users, err)
		}
	})
}

func TestErrorCodes(t *testing.T) {
	t.Parallel()
	app := plinthtest.New(t, options()...)
	app.Request(http.MethodPost, signup, person("ada", "ada@example.org"))
	waiting, err := job.MustGetQueue(app.Context()).List(app.Context(),
		job.Query{State: job.StateWaiting})
	if err != nil || len(waiting) == 0 {
		t.Fatalf("jobs = %v, %v", waiting, err)
	}
	t.Cleanup(func() { // after all subtests
		if got := queued(t, app.Context()); got[notifyx.JobKind] != 1 || got[webhook.JobKind] != 1 {
			t.Errorf("jobs = %v, want jobs of the first sign-up only", got)
		}
	})
	for _, tc := range []struct {
		name string
		path string
		body any
		want *xerror.ErrorCode
	}{
		{
			name: "name taken", path: signup, body: person("ada", "eve@example.org"),
			want: xerror.Existed,
		},
		{
			name: "address taken",
			path: signup, body: person("eve", "Ada@example.org"), want: xerror.Existed,
		},
		{name: "no address", path: signup, body: person("eve", "eve"), want: xerror.BodyError},
		{
			name: "name with a line break",
			path: signup, body: person("eve\nBcc: x", "eve@example.org"), want: xerror.BodyError,
		},
		{
			name: "replay of a waiting job", path: "/api/v1/jobs/" + waiting[0].ID + "/replay",
			want: xerror.InvalidState,
		},
		{
			name: "replay of an unknown job",
			path: "/api/v1/jobs/01930000-0000-7000-8000-000000000000/replay",
			want: xerror.ResourceNotFound,
		},
		{
			name: "replay of an invalid ID", path: "/api/v1/jobs/x/replay",
			want: xerror.ResourceNotFound,
		},
		{
			name: "webhook without signature",
			path: notify.HookPath, body: gin.H{"type": "user.created"},
			want: xerror.SignatureInvalid,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r := app.Request(http.MethodPost, tc.path, tc.body)
			if r.Output() != tc.want.GetOutput() {
				t.Errorf("response = %d %s, want %s", r.Status(), r.Body(), tc.want.GetOutput())
			}
		})
	}
}

func TestReport(t *testing.T) {
	t.Parallel()
	app := plinthtest.New(t, options()...)
	tick := cronx.NewContext(app.Context(),
		cronx.Tick{Name: "report", Time: time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC)})
	for i, step := range []struct {
		signUps     int
		wantReports int
	}{
		{signUps: 0, wantReports: 0},
		{signUps: 2, wantReports: 1},
		{signUps: 0, wantReports: 1}, // no new users
		{signUps: 1, wantReports: 2},
	} {
		for range step.signUps {
			name := "user" + strconv.FormatInt(time.Now().UnixNano(), 36)
			if _, err := logic.SignUp(app.Context(), name, name+"@example.org"); err != nil {
				t.Fatal(err)
			}
		}
		if err := logic.Report(tick); err != nil {
			t.Fatal(err)
		}
		kinds := queued(t, app.Context())
		if got := kinds[notifyx.JobKind] - kinds[webhook.JobKind]; got != step.wantReports {
			t.Errorf("step %d: %d reports, want %d", i, got, step.wantReports)
		}
	}
}

func TestHook(t *testing.T) {
	secret := signature.NewSecret()
	t.Setenv("NOTIFICATIONS_HOOK_SECRET", secret.Reveal())
	app := plinthtest.New(t, options()...)
	now := time.Now()
	body := `{"type":"user.created","timestamp":"2026-01-02T03:04:05Z","data":{"id":"440307838414368768"}}`
	for range 2 {
		r := app.Request(http.MethodPost, notify.HookPath, body,
			plinthtest.WithHeader("Webhook-Id", "msg_1"),
			plinthtest.WithHeader("Webhook-Timestamp", strconv.FormatInt(now.Unix(), 10)),
			plinthtest.WithHeader("Webhook-Signature",
				signature.Sign("msg_1", now, []byte(body), secret)))
		if r.Status() != http.StatusOK {
			t.Errorf("response = %d %s", r.Status(), r.Body())
		}
	}
	if got := len(app.LogsOf("webhook arrived")); got != 1 {
		t.Errorf("handled %d times, want once", got)
	}
}
