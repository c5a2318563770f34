package river_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/plinthgo/plinth/asyncx/job/driver"
	"github.com/plinthgo/plinth/asyncx/river"
	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/common/xutil"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xdb"
	dbdriver "github.com/plinthgo/plinth/core/major/xdb/driver"
	"github.com/plinthgo/plinth/dbplugins/postgres"
)

// childDSN is the environment variable that makes this program a child process: a worker
// that the test kills.
const childDSN xenv.EnvKey = "XRIVER_TEST_CHILD_DSN"

const (
	slowKind     = "kill.slow"  // a job that never returns
	quickKind    = "kill.quick" // a job that succeeds immediately
	killTakeOver = 3 * time.Second
)

// child runs a worker until the process is killed, if this process is a child.
func child() {
	dsn, ok := xenv.GetEnv(childDSN)
	if !ok {
		return
	}
	if err := workAsChild(context.Background(), dsn); err != nil {
		fmt.Fprintln(os.Stderr, "child:", err)
	}
	os.Exit(1)
}

func workAsChild(ctx context.Context, dsn string) error {
	db, err := xdb.Open(ctx, xdb.Options{
		Driver: postgres.Name, DSN: xlog.Secret(dsn), MaxOpenConns: 2,
	})
	if err != nil {
		return err
	}
	engine, err := river.Open(river.WithTakeoverTimeout(killTakeOver),
		river.WithDB(db))(context.WithValue(ctx, xctx.DatabaseKey, db))
	if err != nil {
		return err
	}
	return engine.Work(ctx, work(func(_ context.Context, a driver.Attempt) driver.Outcome {
		_, _ = fmt.Fprintf(os.Stdout, "%s %d\n", a.ID, a.Number)
		if a.Kind == slowKind {
			select {}
		}
		return driver.Outcome{}
	}, slowKind, quickKind))
}

// work returns a Work that runs jobs of the kinds with run, three at a time.
func work(
	run func(ctx context.Context, a driver.Attempt) driver.Outcome, kinds ...string,
) driver.Work {
	return driver.Work{
		Kinds: kinds, Concurrency: 3, PollInterval: 50 * time.Millisecond, MaxDuration: time.Minute,
		Run: run, OnError: func(context.Context, string, error) {},
	}
}

// childProcess is a worker in another process.
type childProcess struct {
	cmd   *exec.Cmd
	lines chan string // printed by the worker: job ID and attempt
}

// startChild starts a child process.
func startChild(t *testing.T, c dbdriver.Config) *childProcess {
	t.Helper()
	dsn, err := postgres.Driver{}.DSN(c)
	if err != nil {
		t.Fatal(err)
	}
	m := &childProcess{
		cmd:   exec.CommandContext(t.Context(), os.Args[0]),
		lines: make(chan string, 10_000),
	}
	m.cmd.Env, m.cmd.Stderr = append(os.Environ(), childDSN.String()+"="+dsn), os.Stderr
	out, err := m.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := m.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(m.lines)
		for in := bufio.NewScanner(out); in.Scan(); {
			// skip log records
			if strings.Count(in.Text(), " ") == 1 && !strings.HasPrefix(in.Text(), "{") {
				m.lines <- in.Text()
			}
		}
	}()
	return m
}

// kill kills the process and waits for its exit.
func (m *childProcess) kill(t *testing.T) {
	t.Helper()
	if err := m.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for range m.lines {
	}
	_ = m.cmd.Wait() // returns the exit status of SIGKILL
}

func newJobs(kind string, n int) (jobs []driver.Job, ids []string) {
	for range n {
		j := driver.Job{
			ID: xutil.UUID().V7(), Kind: kind, Args: []byte(`{}`), Priority: 3,
			MaxAttempts: 10,
		}
		jobs, ids = append(jobs, j), append(ids, j.ID)
	}
	return jobs, ids
}

// finish runs the remaining jobs in this process until all ids have run, and returns the
// attempt numbers.
func finish(
	t *testing.T, ctx context.Context, engine driver.Engine, ids []string,
) map[string]int {
	t.Helper()
	var mu sync.Mutex
	numbers := map[string]int{}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	err := engine.Work(ctx, work(func(_ context.Context, a driver.Attempt) driver.Outcome {
		mu.Lock()
		defer mu.Unlock()
		if numbers[a.ID] = a.Number; len(numbers) == len(ids) {
			cancel()
		}
		return driver.Outcome{}
	}, slowKind, quickKind))
	if err != nil {
		t.Fatal(err)
	}
	return numbers
}

func TestEngine_KilledProcesses(t *testing.T) {
	t.Run("repeats jobs with the same ID", func(t *testing.T) {
		_, c := testServer(t)
		c = newDatabase(t, c)
		engine, ctx := replica(t, c, river.WithTakeoverTimeout(killTakeOver))
		const waves, processes, each = 3, 8, 3
		jobs, ids := newJobs(slowKind, processes*each)
		must(t, engine.Insert(ctx, jobs))
		start := time.Now()
		for wave := range waves {
			var children []*childProcess
			for range processes {
				children = append(children, startChild(t, c))
			}
			var got, want []string
			for _, m := range children {
				for range each {
					select {
					case line := <-m.lines:
						got = append(got, line)
					case <-time.After(30 * time.Second):
						t.Fatalf("wave %d: %d jobs started, want %d", wave+1, len(got), len(ids))
					}
				}
			}
			for _, m := range children {
				m.kill(t)
			}
			for _, id := range ids {
				want = append(want, fmt.Sprintf("%s %d", id, wave+1))
			}
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Fatalf("wave %d: the attempts are\n%v\nwant\n%v", wave+1, got, want)
			}
		}
		numbers := finish(t, ctx, engine, ids)
		for _, id := range ids {
			if numbers[id] != waves+1 {
				t.Errorf("job %s finished with attempt %d, want %d", id, numbers[id], waves+1)
			}
		}
		t.Logf("%d processes killed during %d attempts in %s",
			waves*processes, waves*len(ids), time.Since(start).Round(time.Millisecond))
	})

	t.Run("loses no job", func(t *testing.T) {
		_, c := testServer(t)
		c = newDatabase(t, c)
		engine, ctx := replica(t, c, river.WithTakeoverTimeout(killTakeOver))
		jobs, ids := newJobs(quickKind, 2000)
		must(t, engine.Insert(ctx, jobs))
		const kills = 6
		for i := range kills {
			m := startChild(t, c)
			for range 1 + 13*i { // during a fetch, an attempt or a completion
				select {
				case <-m.lines:
				case <-time.After(30 * time.Second):
					t.Fatal("the process did not run a job")
				}
			}
			m.kill(t)
		}
		var left []string
		for _, state := range []driver.State{driver.Waiting, driver.Running} {
			records, err := engine.List(ctx, driver.Query{State: state, Limit: len(ids)})
			must(t, err)
			for _, r := range records {
				left = append(left, r.ID)
			}
		}
		if len(left) == 0 {
			t.Fatal("the processes completed all jobs")
		}
		finish(t, ctx, engine, left)
		done, err := engine.List(ctx, driver.Query{State: driver.Done, Limit: len(ids) + 1})
		must(t, err)
		if len(done) != len(ids) {
			t.Errorf("%d completed jobs, want %d", len(done), len(ids))
		}
	})
}
