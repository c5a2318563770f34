package asynq

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	hibiken "github.com/hibiken/asynq"

	"github.com/plinthgo/plinth/asyncx/job/driver"
)

// TestKey compares the keys with those of asynq's recorded scripts.
func TestKey(t *testing.T) {
	r := &recorder{}
	client := hibiken.NewClientFromRedisClient(r)
	task := hibiken.NewTask("kind", nil)
	if _, err := client.Enqueue(task, hibiken.Queue("q:kind:1"), hibiken.TaskID("id")); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Enqueue(task, hibiken.Queue("q:kind:1"), hibiken.TaskID("id"),
		hibiken.ProcessIn(time.Hour)); err != nil {
		t.Fatal(err)
	}
	want := [][]string{
		{taskKey("q:kind:1", "id"), key("q:kind:1", pendingPart)},
		{taskKey("q:kind:1", "id"), key("q:kind:1", scheduledPart)},
	}
	for i, s := range r.scripts {
		if s.keys[0] != want[i][0] || s.keys[1] != want[i][1] {
			t.Errorf("keys of asynq = %v, want %v", s.keys, want[i])
		}
	}
}

func TestNames_parse(t *testing.T) {
	n := names{"shop:"}
	for _, tc := range []struct {
		name, queue, wantKind string
		wantPriority          int
		want                  bool
	}{
		{
			name: "own queue", queue: n.queue("user.welcome", 2), wantKind: "user.welcome",
			wantPriority: 2, want: true,
		},
		{name: "another service", queue: "shop2:user.welcome:2"},
		{name: "longer name", queue: "shop:eu:user.welcome:2"},
		{name: "no priority", queue: "shop:user.welcome"},
		{name: "unknown priority", queue: "shop:user.welcome:5"},
		{name: "no kind", queue: "shop::2"},
		{name: "only the prefix", queue: "shop:"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			kind, priority, ok := n.parse(tc.queue)
			if ok != tc.want || ok && (kind != tc.wantKind || priority != tc.wantPriority) {
				t.Errorf("parse = %q, %d, %t; want %q, %d, %t",
					kind, priority, ok, tc.wantKind, tc.wantPriority, tc.want)
			}
		})
	}
}

func TestNames_jobOf(t *testing.T) {
	n := names{"shop:"}
	j := n.jobOf("id", "shop:kind:2", "kind", []byte("1"), nil)
	if j.Priority != 2 || j.MaxAttempts != foreignAttempts || j.Meta != nil {
		t.Errorf("job = %+v, want priority 2, the default attempts and no meta", j)
	}
}

// Another release of asynq could dequeue with another script. Then it would poll at
// dequeueInterval, in its own order.
func TestClient_awaitDequeue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &client{firstDequeue: make(chan struct{})}
		if err := c.awaitDequeue(t.Context()); !errors.Is(err, errUnknown) {
			t.Errorf("awaitDequeue = %v, want %v", err, errUnknown)
		}
		close(c.firstDequeue)
		if err := c.awaitDequeue(t.Context()); err != nil {
			t.Errorf("awaitDequeue = %v after a dequeue, want nil", err)
		}
	})
}

func TestClient_withoutLimits(t *testing.T) {
	var reported []error
	onError := func(_ context.Context, _ string, err error) { reported = append(reported, err) }
	c := &client{worker: &worker{Work: driver.Work{OnError: onError}}}
	args := []any{"id", "message", int64(1), "cutoff", "most", int64(2), int64(3)}
	for range 2 {
		if got := c.withoutLimits(t.Context(), args); got[3] != "cutoff" || got[4] != "most" {
			t.Errorf("arguments = %v, want them unchanged", got)
		}
	}
	if len(reported) != 1 || !errors.Is(reported[0], errArchive) {
		t.Errorf("OnError got %v, want %v once", reported, errArchive)
	}
}

func TestDue(t *testing.T) {
	for range 1000 {
		now := time.Now()
		for _, wait := range []time.Duration{
			1, time.Millisecond, 999 * time.Millisecond, time.Second, 90 * time.Minute,
		} {
			if at := time.Unix(due(now, wait).Unix(), 0); at.Before(now.Add(wait)) ||
				at.Sub(now.Add(wait)) >= time.Second {
				t.Errorf("a job with a delay of %s is due %s after it",
					wait, at.Sub(now.Add(wait)))
			}
			d := retryDelay(0, &outcome{driver.Outcome{Action: driver.Retry, Wait: wait}}, nil)
			if at := time.Unix(now.Add(d).Unix(), 0); at.Before(now.Add(wait)) ||
				at.Sub(now.Add(wait)) >= time.Second {
				t.Errorf("a retry after %s is due %s after it", wait, at.Sub(now.Add(wait)))
			}
		}
	}
}

func TestLogger(t *testing.T) {
	reported := 0
	l := &logger{ctx: t.Context(), onError: func(context.Context, string, error) { reported++ }}
	l.Debug("x")
	l.Info("x")
	l.Warn("Retry exhausted for task id=1")
	l.Warn("recoverer: could not retry lease expired task: redis eval error: NOT FOUND")
	if reported != 0 {
		t.Errorf("OnError was called %d times, want 0", reported)
	}
	l.Warn("Could not remove task id=1 err: dial")
	l.Error("Dequeue error: dial")
	l.Fatal("x")
	if reported != 3 {
		t.Errorf("OnError was called %d times, want 3", reported)
	}
}
