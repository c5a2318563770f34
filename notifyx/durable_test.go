package notifyx_test

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/plinthgo/plinth/asyncx/job"
	"github.com/plinthgo/plinth/asyncx/outbox"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
	"github.com/plinthgo/plinth/core/major/xreg/xregnode"
	_ "github.com/plinthgo/plinth/dbplugins/sqlite"
	"github.com/plinthgo/plinth/notifyx"
)

type user struct {
	ID   int
	Mail string
}

// signUp stores a user and the welcome email in one transaction.
func signUp(ctx context.Context, u *user) error {
	return xdb.Transaction(ctx, func(ctx context.Context) error {
		if err := xdb.MustGetDB(ctx).Create(u).Error; err != nil {
			return err
		}
		_, err := notifyx.SendAsync(ctx, &notifyx.Message{
			Type: notifyx.TypeEmail, To: []string{u.Mail},
			Template: "welcome", Variables: map[string]any{"name": "Ann"},
		})
		return err
	})
}

// application returns a context with a database and a queue on SQLite.
func application(t *testing.T) context.Context {
	t.Helper()
	db, err := xdb.Open(t.Context(), xdb.Options{
		Driver: "sqlite",
		Parts: driver.Config{Source: xenv.Map{
			"DATABASE_PATH": filepath.Join(t.TempDir(), "app.db"),
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if pool, err := db.DB(); err == nil {
			_ = pool.Close()
		}
	})
	if err := db.AutoMigrate(&user{}); err != nil {
		t.Fatal(err)
	}
	nodes := &xregnode.Nodes{}
	nodes.Set(xctx.DatabaseKey, db)
	ctx := xregnode.NewContext(t.Context(), nodes)
	queue, err := job.Init(outbox.Open())(ctx)
	if err != nil {
		t.Fatal(err)
	}
	nodes.Set(xctx.JobQueueKey, queue)
	t.Cleanup(func() { _ = job.MustGetQueue(ctx).Close() })
	return ctx
}

// flaky fails a number of times before it succeeds.
type flaky struct {
	sender
	failures int
	done     chan struct{}
	once     sync.Once
}

// Send implements notifyx.Sender.
func (f *flaky) Send(ctx context.Context, m *notifyx.Message) error {
	_ = f.sender.Send(ctx, m)
	if f.count() <= f.failures {
		return retrySoon{errDown}
	}
	f.once.Do(func() { close(f.done) })
	return nil
}

// retrySoon is an error with a short RetryAfter.
type retrySoon struct{ error }

func (retrySoon) RetryAfter() time.Duration { return 10 * time.Millisecond }

func TestSendAsync_Transaction(t *testing.T) {
	ctx := application(t)
	errUndo := errors.New("undo")
	err := xdb.Transaction(ctx, func(ctx context.Context) error {
		if err := signUp(ctx, &user{Mail: "undone@example.com"}); err != nil {
			return err
		}
		return errUndo
	})
	if !errors.Is(err, errUndo) {
		t.Fatal(err)
	}
	if err := signUp(ctx, &user{Mail: "ann@example.com"}); err != nil {
		t.Fatal(err)
	}

	s := &flaky{failures: 2, done: make(chan struct{})}
	r := router(t, notifyx.WithSender(notifyx.TypeEmail, s),
		notifyx.WithTemplates(templates(t, map[string]string{
			"welcome.en.subject": "Welcome, ${name}", "welcome.en.txt": "Hello ${name}",
		})))
	work, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() {
		done <- job.Work(work, job.WithHandlers(r.Handler()),
			job.WithPollInterval(20*time.Millisecond))
	}()
	select {
	case <-s.done:
	case <-time.After(30 * time.Second):
		t.Error("the message was not sent")
	}
	stop()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if s.count() != 3 {
		t.Fatalf("%d attempts, want 3", s.count())
	}
	for _, m := range s.got {
		if m.ID == "" || m.ID != s.got[0].ID || m.To[0] != "ann@example.com" ||
			m.Subject != "Welcome, Ann" {
			t.Errorf("sent %+v, want the message of the committed transaction on every attempt",
				m)
		}
	}
}

func TestRouter_Handler_PermanentError(t *testing.T) {
	ctx := application(t)
	if err := signUp(ctx, &user{Mail: "ann@example.com"}); err != nil {
		t.Fatal(err)
	}
	tried := make(chan struct{}, 10)
	s := &sender{
		err: notifyx.Permanent(errDown),
		do:  func(*notifyx.Message) { tried <- struct{}{} },
	}
	r := router(t, notifyx.WithSender(notifyx.TypeEmail, s),
		notifyx.WithTemplates(templates(t, map[string]string{"welcome.txt": "${name}"})))
	queue := job.MustGetQueue(ctx)
	for range 2 {
		work, stop := context.WithCancel(ctx)
		done := make(chan error, 1)
		go func() {
			done <- job.Work(work, job.WithHandlers(r.Handler()),
				job.WithPollInterval(20*time.Millisecond))
		}()
		<-tried
		stop()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		dead, err := queue.List(ctx, job.Query{State: job.StateDead, Kind: notifyx.JobKind})
		if err != nil || len(dead) != 1 || dead[0].Attempt != 1 {
			t.Fatalf("dead = %+v, %v; want the message after one attempt", dead, err)
		}
		if err := queue.Replay(ctx, dead[0].ID); err != nil {
			t.Fatal(err)
		}
	}
	if s.got[0].ID != s.got[1].ID {
		t.Errorf("IDs = %q and %q, want the same", s.got[0].ID, s.got[1].ID)
	}
}
