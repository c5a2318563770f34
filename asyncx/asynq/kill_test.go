package asynq_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/plinthgo/plinth/asyncx/asynq"
	"github.com/plinthgo/plinth/asyncx/job/driver"
	"github.com/plinthgo/plinth/core/defined/xenv"
)

// childKey is the environment variable that makes this program a child process: a worker
// that the test kills.
const childKey xenv.EnvKey = "PLINTH_TEST_ASYNQ_CHILD"

// childConfig configures a child process.
type childConfig struct {
	Host, User, Pass, Queue string
	Port                    int
}

const (
	heldKind, quickKind = "test.held", "test.quick"
	slotsPerChild       = 10
)

// child runs a worker if this process is a child. Attempts at held jobs never return,
// attempts at quick jobs return immediately.
func child() bool {
	text, ok := xenv.GetEnv(childKey)
	if !ok {
		return false
	}
	var config childConfig
	if err := json.Unmarshal([]byte(text), &config); err != nil {
		panic(err)
	}
	client := goredis.NewClient(&goredis.Options{
		Addr:     fmt.Sprintf("%s:%d", config.Host, config.Port),
		Username: config.User, Password: config.Pass,
	})
	ctx := context.Background()
	e, err := asynq.Open(asynq.WithClient(client), asynq.WithQueue(config.Queue))(ctx)
	if err != nil {
		panic(err)
	}
	err = e.Work(ctx, driver.Work{
		Kinds: []string{heldKind, quickKind}, Concurrency: slotsPerChild,
		PollInterval: 50 * time.Millisecond,
		OnError: func(_ context.Context, operation string, err error) {
			println(operation, err.Error())
		},
		Run: func(ctx context.Context, a driver.Attempt) driver.Outcome {
			if a.Kind == heldKind {
				client.Incr(ctx, config.Queue+":held")
				<-ctx.Done()
			}
			client.HIncrBy(ctx, config.Queue+":effects", a.ID, 1)
			return driver.Outcome{}
		},
	})
	panic(err)
}

// process starts a child process.
func (p testQueue) process(t *testing.T) *exec.Cmd {
	t.Helper()
	text, err := json.Marshal(childConfig{
		Host: p.config.Host, Port: p.config.Port, User: p.config.User,
		Pass: p.config.Pass, Queue: p.queue,
	})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), childKey.String()+"="+string(text))
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd
}

// attemptLog records the attempts after the crashes by job ID.
type attemptLog struct {
	mu      sync.Mutex
	numbers map[string]int
}

func (s *attemptLog) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.numbers)
}

// TestEngine_KilledProcesses waits for asynq's takeover, up to two minutes.
func TestEngine_KilledProcesses(t *testing.T) {
	t.Parallel()
	p := onRedis(t)
	ctx, e, client := p.open(t)
	held, quick := newJobs(40, ofKind(heldKind)),
		newJobs(2000, ofKind(quickKind), func(j *driver.Job) { j.Priority = 4 })
	t.Cleanup(func() { client.Del(ctx, p.queue+":held", p.queue+":effects") })
	var children []*exec.Cmd
	for range 3 {
		children = append(children, p.process(t))
	}
	if err := e.Insert(ctx, quick); err != nil {
		t.Fatal(err)
	}
	eventually(t, "quick jobs are done",
		func() bool { return client.HLen(ctx, p.queue+":effects").Val() > 300 })
	if err := e.Insert(ctx, held); err != nil {
		t.Fatal(err)
	}
	// Held jobs have the higher priority, so that they fill the slots while quick jobs
	// are completed.
	eventually(t, "some jobs are held",
		func() bool { n, _ := client.Get(ctx, p.queue+":held").Int(); return n >= 2*slotsPerChild })
	for _, c := range children {
		if err := c.Process.Kill(); err != nil {
			t.Fatal(err)
		}
	}
	crashed := time.Now()
	for _, c := range children {
		_ = c.Wait() // returns the exit status of SIGKILL
	}
	running, err := e.List(ctx, driver.Query{State: driver.Running, Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	s := attemptLog{numbers: map[string]int{}}
	work(t, ctx, e, driver.Work{
		Kinds: []string{heldKind, quickKind}, Concurrency: 20, PollInterval: 50 * time.Millisecond,
		OnError: logErrors(t),
		Run: func(ctx context.Context, a driver.Attempt) driver.Outcome {
			s.mu.Lock()
			s.numbers[a.ID] = a.Number
			s.mu.Unlock()
			client.HIncrBy(ctx, p.queue+":effects", a.ID, 1)
			return driver.Outcome{}
		},
	})
	total := int64(len(held) + len(quick))
	for start := time.Now(); client.HLen(ctx, p.queue+":effects").Val() < total ||
		!p.empty(ctx, t, client); sleep(100 * time.Millisecond) {
		if time.Since(start) > e.Capabilities().TakeoverTimeout+10*time.Second {
			t.Fatalf("%d of %d jobs completed",
				client.HLen(ctx, p.queue+":effects").Val(), total)
		}
	}
	t.Logf("%d jobs of crashed workers were taken over within %s, %d jobs ran after the crashes",
		len(running), time.Since(crashed), s.count())
	if len(running) < 2*slotsPerChild {
		t.Errorf("%d jobs ran when their workers crashed, want at least %d",
			len(running), 2*slotsPerChild)
	}
	for _, r := range running {
		if s.numbers[r.ID] != 2 {
			t.Errorf("a job of a crashed worker had attempt %d, want 2", s.numbers[r.ID])
		}
	}
}

// empty reports whether the queues contain no jobs.
func (p testQueue) empty(ctx context.Context, t *testing.T, client goredis.UniversalClient) bool {
	t.Helper()
	for _, queue := range p.queues(ctx, t, client) {
		for _, part := range []string{"pending", "active", "lease", "retry", "archived"} {
			if client.Exists(ctx, "asynq:{"+queue+"}:"+part).Val() > 0 {
				return false
			}
		}
	}
	return true
}

// TestEngine_LongJob runs an attempt that takes longer than the lease plus asynq's
// tolerance for clock skew. Then another worker starts and checks for crashed workers.
func TestEngine_LongJob(t *testing.T) {
	t.Parallel()
	p := onRedis(t)
	ctx, e, _ := p.open(t)
	peerCtx, peer, _ := p.open(t)
	j := newJobs(1)[0]
	if err := e.Insert(ctx, []driver.Job{j}); err != nil {
		t.Fatal(err)
	}
	started, end := make(chan context.Context, 1), make(chan struct{})
	work(t, ctx, e, driver.Work{
		Kinds: []string{testKind}, Concurrency: 1, PollInterval: time.Second, OnError: logErrors(t),
		Run: func(ctx context.Context, _ driver.Attempt) driver.Outcome {
			started <- ctx
			<-end
			return driver.Outcome{}
		},
	})
	attempt := <-started
	sleep(65 * time.Second)
	work(t, peerCtx, peer, driver.Work{
		Kinds: []string{testKind}, Concurrency: 1, PollInterval: time.Second, OnError: logErrors(t),
		Run: func(context.Context, driver.Attempt) driver.Outcome {
			t.Error("another worker received the job")
			return driver.Outcome{}
		},
	})
	sleep(3 * time.Second)
	if attempt.Err() != nil {
		t.Error("the context of the attempt is canceled")
	}
	close(end)
	eventually(t, "the job is done", func() bool { return deleted(ctx, e, j.ID) })
}
