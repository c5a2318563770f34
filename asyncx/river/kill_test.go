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

// childDSN makes the test's process a worker that is going to be killed.
const childDSN xenv.EnvKey = "XRIVER_TEST_CHILD_DSN"

const (
	slowKind  = "kill.slow"  // a job that never ends
	quickKind = "kill.quick" // one that succeeds at once
	killTime  = 3 * time.Second
)

// child works in another process until that is killed.
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
		Driver: postgres.Name, DSN: xlog.Secret(dsn),
		MaxOpenConns: 2,
	})
	if err != nil {
		return err
	}
	engine, err := river.Open(river.WithTakeOver(killTime),
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

// work takes jobs of the kinds, three at a time.
func work(
	run func(ctx context.Context, a driver.Attempt) driver.Outcome, kinds ...string,
) driver.Work {
	return driver.Work{
		Kinds: kinds, Concurrency: 3, PollInterval: 50 * time.Millisecond, MaxDuration: time.Minute, Run: run,
		OnError: func(context.Context, string, error) {},
	}
}

// mortal is a worker in another process.
type mortal struct {
	cmd  *exec.Cmd
	said chan string
}

func spawn(t *testing.T, c dbdriver.Config) *mortal {
	t.Helper()
	dsn, err := postgres.Driver{}.DSN(c)
	if err != nil {
		t.Fatal(err)
	}
	m := &mortal{cmd: exec.CommandContext(t.Context(), os.Args[0]), said: make(chan string, 10_000)}
	m.cmd.Env, m.cmd.Stderr = append(os.Environ(), childDSN.String()+"="+dsn), os.Stderr
	out, err := m.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := m.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(m.said)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if strings.Count(lines.Text(), " ") == 1 && !strings.HasPrefix(lines.Text(), "{") {
				m.said <- lines.Text()
			}
		}
	}()
	return m
}

// kill ends the process at once, and waits until it has gone.
func (m *mortal) kill(t *testing.T) {
	t.Helper()
	if err := m.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for range m.said {
	}
	_ = m.cmd.Wait() // it was killed
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

// finish does the jobs that are left in this process, until all ids have run, and returns
// the numbers of the attempts.
func finish(t *testing.T, engine driver.Engine, ctx context.Context,
	ids []string,
) map[string]int { //nolint:revive // context-as-argument: the engine's
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

func TestJobsOfKilledProcessesRunAgainWithTheirIDs(t *testing.T) {
	_, c := find(t)
	c = newDatabase(t, c)
	engine, ctx := replica(t, c, river.WithTakeOver(killTime))
	const waves, processes, each = 3, 8, 3
	jobs, ids := newJobs(slowKind, processes*each)
	must(t, engine.Insert(ctx, jobs))
	begin := time.Now()
	for wave := range waves {
		var mortals []*mortal
		for range processes {
			mortals = append(mortals, spawn(t, c))
		}
		var got, want []string
		for _, m := range mortals {
			for range each {
				select {
				case line := <-m.said:
					got = append(got, line)
				case <-time.After(30 * time.Second):
					t.Fatalf("wave %d: %d jobs run, want %d", wave+1, len(got), len(ids))
				}
			}
		}
		for _, m := range mortals {
			m.kill(t)
		}
		for _, id := range ids {
			want = append(want, fmt.Sprintf("%s %d", id, wave+1))
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Fatalf("wave %d: the jobs that ran are\n%v\nwant\n%v", wave+1, got, want)
		}
	}
	numbers := finish(t, engine, ctx, ids)
	for _, id := range ids {
		if numbers[id] != waves+1 {
			t.Errorf("the job %s was finished at attempt %d, want %d", id, numbers[id], waves+1)
		}
	}
	t.Logf("%d processes killed at %d attempts in %s, nothing lost",
		waves*processes, waves*len(ids), time.Since(begin).Round(time.Millisecond))
}

func TestNothingIsLostWhereverAProcessIsKilled(t *testing.T) {
	_, c := find(t)
	c = newDatabase(t, c)
	engine, ctx := replica(t, c, river.WithTakeOver(killTime))
	jobs, ids := newJobs(quickKind, 2000)
	must(t, engine.Insert(ctx, jobs))
	const kills = 6
	for i := range kills {
		m := spawn(t, c)
		for range 1 + 13*i { // in the midst of taking, doing and settling
			select {
			case <-m.said:
			case <-time.After(30 * time.Second):
				t.Fatal("a process takes no job")
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
		t.Fatal("the processes have done all")
	}
	finish(t, engine, ctx, left)
	done, err := engine.List(ctx, driver.Query{State: driver.Done, Limit: len(ids) + 1})
	must(t, err)
	if len(done) != len(ids) {
		t.Errorf("%d jobs are done, want %d", len(done), len(ids))
	}
}
