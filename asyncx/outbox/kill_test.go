//go:build unix

package outbox_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/asyncx/job"
	jobdriver "github.com/plinthgo/plinth/asyncx/job/driver"
	"github.com/plinthgo/plinth/asyncx/outbox"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/major/xdb"
)

// killTakeOver is short, so that the tests are fast.
const killTakeOver = 300 * time.Millisecond

// process returns a child process that is not started yet, and its standard error.
func (p testDatabase) process(tb testing.TB, c childConfig) (*exec.Cmd, *bytes.Buffer) {
	tb.Helper()
	dsn, dsnErr := drivers[p.driver].DSN(p.parts)
	c.Driver, c.DSN = p.driver, dsn
	text, err := json.Marshal(c)
	if err := errors.Join(dsnErr, err); err != nil {
		tb.Fatal(err)
	}
	cmd := exec.CommandContext(context.WithoutCancel(tb.Context()), os.Args[0])
	cmd.Env = append(os.Environ(), childKey.String()+"="+string(text))
	var lines bytes.Buffer
	cmd.Stderr = &lines
	return cmd, &lines
}

// killed reports whether err is the exit status of SIGKILL.
func killed(err error) bool {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return false
	}
	status, ok := exit.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}

// application returns the database, queue and context of the application in this process.
func (p testDatabase) application(
	tb testing.TB, takeOver time.Duration,
) (context.Context, *gorm.DB, *job.Queue) {
	tb.Helper()
	o := p.options()
	o.AutoMigrate = []any{&order{}, &effect{}}
	db := open(tb, o)
	ctx, e := engine(tb, db, outbox.WithTakeoverTimeout(takeOver))
	queue := job.NewQueue(e)
	return context.WithValue(ctx, xctx.JobQueueKey, queue), db, queue
}

func TestEngine_KilledProcesses(t *testing.T) {
	if testing.Short() {
		t.Skip("slow test")
	}
	for _, tc := range []struct {
		name          string
		on            func(tb testing.TB) testDatabase
		lanes, rounds int
	}{
		{name: "SQLite file", on: onFile, lanes: 8, rounds: 25},
		{name: "PostgreSQL", on: onPostgres, lanes: 2, rounds: len(steps)},
		{name: "MySQL", on: onMySQL, lanes: 1, rounds: len(steps)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			start, found := time.Now(), make([]summary, tc.lanes)
			t.Run("lanes", func(t *testing.T) {
				for lane := range tc.lanes {
					t.Run(fmt.Sprint(lane), func(t *testing.T) {
						t.Parallel()
						found[lane] = kill(t, tc.on(t), lane*tc.rounds, tc.rounds)
					})
				}
			})
			var sum summary
			for _, l := range found {
				sum.orders += l.orders
				sum.attempts += l.attempts
				sum.repeated += l.repeated
			}
			if sum.orders == 0 {
				return // the lanes were skipped, because there is no server
			}
			t.Logf("%d processes killed in %s: %d orders, %d attempts with effects, "+
				"%d repeated jobs",
				tc.lanes*tc.rounds, time.Since(start).Round(time.Millisecond), sum.orders,
				sum.attempts, sum.repeated)
		})
	}
}

// kill runs processes on one database, one after the other. Each process continues the
// work of the previous ones and is killed at its step. Then kill runs the remaining jobs
// and checks the effects.
func kill(t *testing.T, p testDatabase, first, rounds int) summary {
	t.Helper()
	ctx, db, _ := p.application(t, killTakeOver)
	for round := range rounds {
		step := steps[(first+round)%len(steps)]
		cmd, lines := p.process(t,
			childConfig{Role: "die", TakeOver: killTakeOver, Step: step, First: 10 * round})
		if err := cmd.Run(); !killed(err) {
			t.Fatalf("the process was not killed %s: %v\n%s", step, err, lines)
		}
	}
	working, cancel := context.WithCancel(ctx)
	defer cancel()
	var done sync.WaitGroup
	done.Go(func() {
		err := job.Work(working, job.WithPollInterval(20*time.Millisecond), job.WithHandlers(
			ship.Handle(func(ctx context.Context, args shipArgs) error {
				return recordEffect(ctx, args, true)
			})))
		if err != nil {
			t.Error(err)
		}
	})
	eventually(t, "all jobs are done", func() bool { return count(t, db) == 0 })
	cancel()
	done.Wait()
	return check(t, db)
}

// count returns the number of jobs with one statement. Separate lists of each state could
// miss jobs that change their state.
func count(tb testing.TB, db *gorm.DB) (n int64) {
	tb.Helper()
	if err := db.Table(db.NamingStrategy.TableName("plinth_jobs")).Count(&n).Error; err != nil {
		tb.Fatal(err)
	}
	return n
}

// eventually waits until ok returns true.
func eventually(tb testing.TB, condition string, ok func() bool) {
	tb.Helper()
	timeout := time.After(30 * time.Second)
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for !ok() {
		select {
		case <-ticker.C:
		case <-timeout:
			tb.Fatalf("condition not met after 30 s: %s", condition)
		}
	}
}

// summary is the result of check.
type summary struct{ orders, attempts, repeated int }

// check compares the orders with their effects.
func check(t *testing.T, db *gorm.DB) summary {
	t.Helper()
	var orders []order
	var effects []effect
	if err := errors.Join(db.Find(&orders).Error,
		db.Order("attempt").Find(&effects).Error); err != nil {
		t.Fatal(err)
	}
	l := summary{orders: len(orders), attempts: len(effects)}
	byOrder := map[int64][]effect{}
	for _, e := range effects {
		byOrder[e.OrderID] = append(byOrder[e.OrderID], e)
	}
	for _, o := range orders {
		attempts := byOrder[o.ID]
		delete(byOrder, o.ID)
		if !slices.ContainsFunc(attempts, func(e effect) bool { return e.Ended }) {
			t.Errorf("the job of order %d is lost", o.ID)
			continue
		}
		times := 0
		for _, e := range attempts {
			if e.JobID != attempts[0].JobID {
				t.Errorf("order %d has jobs %s and %s", o.ID, attempts[0].JobID, e.JobID)
			}
			if e.Ended {
				times++
			}
		}
		if times > 1 {
			l.repeated++
		}
	}
	for id := range byOrder {
		t.Errorf("a job ran for order %d, which was not committed", id)
	}
	return l
}

func TestEngine_PoisonJob(t *testing.T) {
	p := onFile(t)
	ctx, _, queue := p.application(t, killTakeOver)
	id, err := poison.Enqueue(ctx, shipArgs{1})
	if err != nil {
		t.Fatal(err)
	}
	for attempt := range 3 {
		cmd, lines := p.process(t, childConfig{Role: "poison", TakeOver: killTakeOver})
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Run(); !killed(err) {
			t.Fatalf("attempt %d: the process was not killed: %v\n%s", attempt+1, err, lines)
		}
		_ = in.Close()
		r, err := queue.Get(ctx, id)
		if err != nil || r.State != jobdriver.Running || r.Attempt != attempt+1 {
			t.Errorf("after process %d: %v, attempt %d, %v", attempt+1, r.State, r.Attempt, err)
		}
	}
	cmd, lines := p.process(t, childConfig{Role: "poison", TakeOver: killTakeOver})
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the job is dead", func() bool {
		r, err := queue.Get(ctx, id)
		return err == nil && r.State == jobdriver.Dead && r.Error != ""
	})
	_ = in.Close()
	if err := cmd.Wait(); err != nil {
		t.Errorf("the fourth process must discard the job and exit: %v\n%s", err, lines)
	}
}

func TestEngine_ConcurrentProcesses(t *testing.T) {
	for _, tc := range []struct {
		name string
		on   func(tb testing.TB) testDatabase
	}{{"SQLite file", onFile}, {"PostgreSQL", onPostgres}, {"MySQL", onMySQL}} {
		t.Run(tc.name, func(t *testing.T) {
			shareJobs(t, tc.on(t), 2000)
		})
	}
}

// shareJobs runs n jobs in three child processes.
func shareJobs(t *testing.T, p testDatabase, n int) {
	t.Helper()
	ctx, db, _ := p.application(t, 30*time.Second)
	args := make([]shipArgs, n)
	for i := range args {
		args[i].Order = int64(i)
	}
	if _, err := ship.EnqueueMany(ctx, args); err != nil {
		t.Fatal(err)
	}
	var stops []func()
	start := time.Now()
	for range 3 {
		cmd, lines := p.process(t, childConfig{Role: "drain", TakeOver: 30 * time.Second})
		in, err := cmd.StdinPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		stops = append(stops, func() {
			_ = in.Close()
			if err := cmd.Wait(); err != nil {
				t.Errorf("%v\n%s", err, lines)
			}
		})
	}
	eventually(t, "all jobs are done", func() bool { return count(t, db) == 0 })
	elapsed := time.Since(start)
	for _, stop := range stops {
		stop()
	}
	var effects []effect
	if err := db.WithContext(xdb.WithPrimary(ctx)).Find(&effects).Error; err != nil {
		t.Fatal(err)
	}
	seen := map[int64]int{}
	for _, e := range effects {
		seen[e.OrderID]++
		if e.Attempt != 1 || seen[e.OrderID] > 1 {
			t.Errorf("order %d: attempt %d, %d times", e.OrderID, e.Attempt, seen[e.OrderID])
		}
	}
	if len(effects) != n {
		t.Errorf("%d effects, want %d", len(effects), n)
	}
	t.Logf("%d jobs by three processes in %s, including startup",
		n, elapsed.Round(time.Millisecond))
}
