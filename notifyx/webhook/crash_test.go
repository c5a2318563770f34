package webhook_test

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/plinthgo/plinth/asyncx/backoff"
	"github.com/plinthgo/plinth/asyncx/job"
	"github.com/plinthgo/plinth/notifyx/webhook"
)

// childMark is the first argument of a process that delivers until it is killed.
const childMark = "webhook-child"

var rounds = flag.Int("rounds", 200, "how often a process that delivers is killed")

// crashing returns the dispatcher of TestAKilledProcessLosesNoEvent. An attempt that is
// killed is used up, so there are many.
func crashing(url string) (*webhook.Dispatcher, error) {
	c, err := webhook.New(webhook.WithHTTP(), webhook.WithAllowLoopback(), webhook.WithoutBreaker())
	if err != nil {
		return nil, err
	}
	return webhook.NewDispatcher(only(url), c,
		webhook.WithSchedule(backoff.Constant(20*time.Millisecond), 100_000))
}

// child delivers until it is killed.
func child(path, url string) {
	err := func() error {
		ctx, stop, err := service(path)
		if err != nil {
			return err
		}
		defer stop()
		d, err := crashing(url)
		if err != nil {
			return err
		}
		return job.Work(ctx, job.WithHandlers(d.Handler()),
			job.WithPollInterval(10*time.Millisecond))
	}()
	_, _ = fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// ledger is a receiver that remembers what came under each id.
type ledger struct {
	mu       sync.Mutex
	bodies   map[string]string
	attempts map[string]int
	answered map[string]int
	faults   []string
	wanted   string        // the step that somebody waits for
	reached  chan struct{} // closed then
}

// ServeHTTP implements http.Handler. Every third request is refused.
func (l *ledger) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	l.at("arrived")
	body, err := io.ReadAll(r.Body)
	id := r.Header.Get("Webhook-Id")
	l.mu.Lock()
	l.attempts[id]++
	if known, ok := l.bodies[id]; ok && known != string(body) {
		l.faults = append(l.faults, fmt.Sprintf("%s came as %s and as %s", id, known, body))
	}
	l.bodies[id] = string(body)
	refuse := err != nil || l.attempts[id] == 1 && len(l.bodies)%3 == 0
	l.mu.Unlock()
	l.at("read")
	if refuse {
		w.WriteHeader(http.StatusServiceUnavailable)
	} else {
		w.WriteHeader(http.StatusNoContent)
		l.mu.Lock()
		l.answered[id]++
		l.mu.Unlock()
	}
	l.at("answered")
}

// want returns what is closed when the next request is at the step.
func (l *ledger) want(step string) <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wanted, l.reached = step, make(chan struct{})
	if step == "start" {
		close(l.reached)
	}
	return l.reached
}

func (l *ledger) at(step string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.wanted == step {
		close(l.reached)
		l.wanted = ""
	}
}

func TestAKilledProcessLosesNoEvent(t *testing.T) {
	l := &ledger{
		bodies: map[string]string{}, attempts: map[string]int{},
		answered: map[string]int{},
	}
	s := serve(t, l.ServeHTTP)
	path := filepath.Join(t.TempDir(), "jobs.db")
	ctx, stop, err := service(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	d, err := crashing(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	steps := []string{"start", "arrived", "read", "answered"}
	var ids []string
	if testing.Short() {
		*rounds = min(*rounds, 15)
	}
	for round := range *rounds {
		id, err := d.Enqueue(ctx, "shop", webhook.Event{Type: "round", Data: round})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
		killAt(t, l, path, s.URL, steps[round%len(steps)])
	}
	deliver(t, ctx, d)
	await(t, "every event was delivered", func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return len(l.answered) == len(ids)
	})
	await(t, "nothing waits", func() bool {
		waiting, err := job.MustGetQueue(ctx).List(ctx, job.Query{State: job.StateWaiting})
		running, err2 := job.MustGetQueue(ctx).List(ctx, job.Query{State: job.StateRunning})
		return err == nil && err2 == nil && len(waiting)+len(running) == 0
	})
	l.mu.Lock()
	defer l.mu.Unlock()
	repeats := 0
	for _, id := range ids {
		if l.answered[id] == 0 {
			t.Errorf("%s was lost", id)
		}
		repeats += l.attempts[id] - 1
	}
	if len(l.bodies) != len(ids) {
		t.Errorf("%d ids came, want %d", len(l.bodies), len(ids))
	}
	for _, f := range l.faults {
		t.Error(f)
	}
	if dead, err := job.MustGetQueue(ctx).List(ctx, job.Query{State: job.StateDead}); err != nil ||
		len(dead) != 0 {
		t.Errorf("dead letters: %+v, %v", dead, err)
	}
	t.Logf("%d kills, %d events, %d attempts that were repeats", *rounds, len(ids), repeats)
}

// killAt starts a process that delivers and kills it when a request is at the step, or a
// moment later.
func killAt(t *testing.T, l *ledger, path, url, step string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], childMark, path, url)
	reached := l.want(step)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-reached:
	case <-ctx.Done():
		t.Fatalf("the process did not come to %q", step)
	}
	moment := time.NewTimer(rand.N(5 * time.Millisecond))
	defer moment.Stop()
	<-moment.C
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
}
