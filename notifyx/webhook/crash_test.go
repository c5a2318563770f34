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

// childMark is the first argument of the child process.
const childMark = "webhook-child"

var rounds = flag.Int("rounds", 200, "number of times that the delivering process is killed")

// crashDispatcher returns the dispatcher of TestDispatcher_Crash. Attempts of a killed
// process count, so the limit is high.
func crashDispatcher(url string) (*webhook.Dispatcher, error) {
	c, err := webhook.New(webhook.WithHTTP(), webhook.WithAllowLoopback(), webhook.WithoutBreaker())
	if err != nil {
		return nil, err
	}
	return webhook.NewDispatcher(shopOnly(url), c,
		webhook.WithSchedule(backoff.Constant(20*time.Millisecond), 100_000))
}

// child delivers events until the process is killed.
func child(path, url string) {
	err := func() error {
		ctx, stop, err := service(path)
		if err != nil {
			return err
		}
		defer stop()
		d, err := crashDispatcher(url)
		if err != nil {
			return err
		}
		return job.Work(ctx, job.WithHandlers(d.Handler()),
			job.WithPollInterval(10*time.Millisecond))
	}()
	_, _ = fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// requestLog is a receiver that records the requests per event ID.
type requestLog struct {
	mu       sync.Mutex
	bodies   map[string]string
	attempts map[string]int
	accepted map[string]int
	errors   []string
	step     string        // the step that the test waits for
	reached  chan struct{} // closed when a request reaches the step
}

// ServeHTTP rejects the first attempt of every third event.
func (l *requestLog) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	l.reach("arrived")
	body, err := io.ReadAll(r.Body)
	id := r.Header.Get("Webhook-Id")
	l.mu.Lock()
	l.attempts[id]++
	if known, ok := l.bodies[id]; ok && known != string(body) {
		l.errors = append(l.errors, fmt.Sprintf("%s received as %s and as %s", id, known, body))
	}
	l.bodies[id] = string(body)
	reject := err != nil || l.attempts[id] == 1 && len(l.bodies)%3 == 0
	l.mu.Unlock()
	l.reach("read")
	if reject {
		w.WriteHeader(http.StatusServiceUnavailable)
	} else {
		w.WriteHeader(http.StatusNoContent)
		l.mu.Lock()
		l.accepted[id]++
		l.mu.Unlock()
	}
	l.reach("responded")
}

// await returns a channel that is closed when the next request reaches the step.
func (l *requestLog) await(step string) <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.step, l.reached = step, make(chan struct{})
	if step == "start" {
		close(l.reached)
	}
	return l.reached
}

// reach reports that a request reached the step.
func (l *requestLog) reach(step string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.step == step {
		close(l.reached)
		l.step = ""
	}
}

func TestDispatcher_Crash(t *testing.T) {
	l := &requestLog{
		bodies: map[string]string{}, attempts: map[string]int{}, accepted: map[string]int{},
	}
	s := serve(t, l.ServeHTTP)
	path := filepath.Join(t.TempDir(), "jobs.db")
	ctx, stop, err := service(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	d, err := crashDispatcher(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	steps := []string{"start", "arrived", "read", "responded"}
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
	await(t, "all events delivered", func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return len(l.accepted) == len(ids)
	})
	await(t, "no jobs left", func() bool {
		waiting, err := job.MustGetQueue(ctx).List(ctx, job.Query{State: job.StateWaiting})
		running, err2 := job.MustGetQueue(ctx).List(ctx, job.Query{State: job.StateRunning})
		return err == nil && err2 == nil && len(waiting)+len(running) == 0
	})
	l.mu.Lock()
	defer l.mu.Unlock()
	repeats := 0
	for _, id := range ids {
		if l.accepted[id] == 0 {
			t.Errorf("%s was lost", id)
		}
		repeats += l.attempts[id] - 1
	}
	if len(l.bodies) != len(ids) {
		t.Errorf("%d IDs received, want %d", len(l.bodies), len(ids))
	}
	for _, f := range l.errors {
		t.Error(f)
	}
	if dead, err := job.MustGetQueue(ctx).List(ctx, job.Query{State: job.StateDead}); err != nil ||
		len(dead) != 0 {
		t.Errorf("dead letters: %+v, %v", dead, err)
	}
	t.Logf("%d kills, %d events, %d repeated attempts", *rounds, len(ids), repeats)
}

// killAt starts a child process and kills it shortly after a request reached the step.
func killAt(t *testing.T, l *requestLog, path, url, step string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], childMark, path, url)
	reached := l.await(step)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-reached:
	case <-ctx.Done():
		t.Fatalf("the process did not reach %q", step)
	}
	delay := time.NewTimer(rand.N(5 * time.Millisecond))
	defer delay.Stop()
	<-delay.C
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
}
