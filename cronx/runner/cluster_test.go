package runner_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	_ "github.com/plinthgo/plinth/cacheplugins/redis"
	"github.com/plinthgo/plinth/core/common/xlease"
	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xcache"
	cachedriver "github.com/plinthgo/plinth/core/major/xcache/driver"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/cronx"
	"github.com/plinthgo/plinth/cronx/runner"
	_ "github.com/plinthgo/plinth/dbplugins/mysql"
	_ "github.com/plinthgo/plinth/dbplugins/postgres"
	_ "github.com/plinthgo/plinth/dbplugins/sqlite"
)

// replicaKey contains a replica as JSON. If it is set, the test binary runs as a replica
// process.
const replicaKey xenv.EnvKey = "XCRONRUNNER_TEST_REPLICA"

// replica configures one process of a cluster.
type replica struct {
	Kind, Address, Prefix string
	Skew                  time.Duration // of its clock
}

// Each replica has clusterJobs jobs; every second one may overlap. Each job is due every
// clusterPeriod seconds, so that runs finish in time on a busy machine. The same number
// of jobs is due each second.
const (
	clusterJobs    = 40
	clusterPeriod  = 4
	ticksPerSecond = clusterJobs / clusterPeriod
)

// runReplica runs jobs until the end of standard input.
func runReplica(text string) (code int) {
	var r replica
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		panic(err)
	}
	if err := r.serve(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func (r replica) serve() error {
	engine, err := xlog.New(xlog.Config{
		Format: xlog.FormatJSON, Writer: os.Stderr, Level: slog.LevelWarn,
	})
	if err != nil {
		return err
	}
	defer xlog.SetDefault(engine)()
	ctx, stop := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		stop()
	}()
	ledger, err := r.open(ctx)
	switch {
	case ctx.Err() != nil && err != nil:
		return nil // stopped during startup
	case err != nil:
		return err
	}
	var jobs []*cronx.Job
	for i := range clusterJobs {
		options := []cronx.JobOption{
			cronx.WithName(fmt.Sprintf("job-%d", i)),
			cronx.WithSingleRun(),
		}
		if i%2 == 0 {
			options = append(options, cronx.WithOverlap())
		}
		jobs = append(jobs, cronx.NewJob(fmt.Sprintf("%d/%d * * * * *",
			i%clusterPeriod, clusterPeriod), func(ctx context.Context) error {
			tick, _ := cronx.TickFrom(ctx)
			return ledger.write(ctx, fmt.Sprintf("%s@%d", tick.Name, tick.Time.Unix()))
		}, options...))
	}
	ctx = context.WithValue(ctx, xctx.LeasesKey, ledger.leases)
	return errors.Join(runner.Serve(ctx, runner.WithRegister(jobs...),
		runner.WithNow(skewed(r.Skew))), ledger.close())
}

// ledger contains the leases and a log of all runs.
type ledger struct {
	leases *xlease.Leases
	write  func(ctx context.Context, run string) error
	read   func(ctx context.Context) ([]string, error)
	drop   func(ctx context.Context) error
	close  func() error
}

func (r replica) open(ctx context.Context) (*ledger, error) {
	if r.Kind == "redis" {
		return r.openCache(ctx)
	}
	return r.openDatabase(ctx)
}

func (r replica) openDatabase(ctx context.Context) (*ledger, error) {
	options := xdb.Options{
		Driver: r.Kind, DSN: xlog.Secret(r.Address), TablePrefix: r.Prefix,
		MaxOpenConns: 5, SlowThreshold: time.Minute,
	}
	if r.Kind == "sqlite" {
		options.DSN = ""
		options.Parts.Source = xenv.Map{"DATABASE_PATH": r.Address}
		options.MaxOpenConns = 2
	}
	db, err := xdb.Open(ctx, options)
	if err != nil {
		return nil, err
	}
	leases, err := xdb.Leases(db) // of this database
	if err != nil {
		return nil, errors.Join(err, xdb.Close(db))
	}
	table := r.Prefix + "runs"
	l := &ledger{
		leases: leases,
		write: func(ctx context.Context, run string) error {
			return db.WithContext(ctx).Exec("INSERT INTO "+table+" (run) VALUES (?)", run).Error
		},
		read: func(ctx context.Context) (list []string, err error) {
			return list, db.WithContext(ctx).Raw("SELECT run FROM " + table).Scan(&list).Error
		},
		drop: func(ctx context.Context) error {
			db := db.WithContext(ctx)
			return errors.Join(db.Exec("DROP TABLE "+table).Error,
				db.Exec("DROP TABLE "+r.Prefix+"plinth_leases").Error)
		},
		close: func() error { return xdb.Close(db) },
	}
	return l, db.WithContext(ctx).Exec("CREATE TABLE IF NOT EXISTS " + table +
		" (run VARCHAR(60) NOT NULL)").Error
}

func (r replica) openCache(ctx context.Context) (*ledger, error) {
	m, err := xcache.Open(ctx, xcache.Options{
		Driver: "redis", Config: cachedriver.Config{URL: r.Address}, Prefix: r.Prefix,
	})
	if err != nil {
		return nil, err
	}
	leases, err := m.Leases()
	if err != nil {
		return nil, errors.Join(err, m.Close())
	}
	key := r.Prefix + "runs"
	var n atomic.Int64
	return &ledger{
		leases: leases,
		write: func(ctx context.Context, run string) error {
			field := cachedriver.Field{Name: fmt.Sprintf("%s %d %d", run, os.Getpid(), n.Add(1))}
			_, err := m.Store().HashSet(ctx, key, []cachedriver.Field{field}, nil,
				cachedriver.Write{})
			return err
		},
		read: func(ctx context.Context) (list []string, err error) {
			fields, err := m.Store().HashGetAll(ctx, key)
			for _, field := range fields {
				run, _, _ := strings.Cut(field.Name, " ")
				list = append(list, run)
			}
			return list, err
		},
		drop: func(ctx context.Context) error {
			_, err := m.Store().Delete(ctx, key) // leases expire
			return err
		},
		close: m.Close,
	}, nil
}

// forEachBackend runs a test on a database file and on every configured server, in
// parallel.
func forEachBackend(t *testing.T, test func(t *testing.T, r replica)) {
	t.Helper()
	if testing.Short() {
		t.Skip("slow test")
	}
	var wg sync.WaitGroup
	defer wg.Wait()
	for _, kind := range []string{"sqlite", "postgres", "mysql", "redis"} {
		wg.Go(func() {
			t.Run(kind, func(t *testing.T) {
				r := newReplica(t, kind)
				l, err := r.open(t.Context()) // create the tables in one process
				if err != nil {
					t.Fatal(err)
				}
				_ = l.close()
				test(t, r)
			})
		})
	}
}

// newReplica returns a replica without clock skew. It skips the test if no server of this
// kind is configured.
func newReplica(t *testing.T, kind string) replica {
	t.Helper()
	r := replica{Kind: kind, Prefix: fmt.Sprintf("cron%d_", rand.Uint32())}
	suffix := "_DSN"
	switch kind {
	case "sqlite":
		r.Address = filepath.Join(t.TempDir(), "cron.db")
		return r
	case "redis":
		suffix = "_URL"
	}
	variable := xenv.EnvKey("PLINTH_TEST_" + strings.ToUpper(kind) + suffix)
	var ok bool
	if r.Address, ok = xenv.GetEnv(variable); !ok {
		t.Skip(variable.String() +
			" is not set; `make test` starts the servers that are installed")
	}
	return r
}

// awaitRuns waits until the ticks from second from until before second to have want runs,
// for at most a minute.
func (r replica) awaitRuns(t *testing.T, want int, from, to int64) {
	t.Helper()
	l, err := r.open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.close() }()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); sleep(200 * time.Millisecond) {
		list, err := l.read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got := 0
		for _, run := range list {
			_, second, _ := strings.Cut(run, "@")
			if at, err := strconv.ParseInt(second, 10, 64); err == nil && from <= at && at < to {
				got++
			}
		}
		if got >= want {
			return
		}
	}
}

// runs returns the number of times that each tick has run, and drops the ledger.
func (r replica) runs(t *testing.T) map[string]int {
	t.Helper()
	l, err := r.open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.close() }()
	list, err := l.read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for _, run := range list {
		counts[run]++
	}
	if err := l.drop(t.Context()); err != nil {
		t.Error(err)
	}
	return counts
}

// sleepUntil waits until at.
func sleepUntil(at time.Time) { <-time.After(time.Until(at)) }

// Replicas with different clocks start and stop within 20 s, in which 200 ticks are due.
func TestSingleRun_Processes(t *testing.T) { forEachBackend(t, testProcesses) }

func testProcesses(t *testing.T, r replica) {
	t.Helper()
	const seconds = 20
	with := func(skew time.Duration) replica {
		r.Skew = skew
		return r
	}
	first := with(0).start(t)
	all := []*process{with(-3 * time.Second).start(t)}
	from := time.Now().Add(4 * time.Second).Truncate(time.Second)
	for i, skew := range []time.Duration{
		3 * time.Second, 1500 * time.Millisecond, -2200 * time.Millisecond,
	} {
		sleepUntil(from.Add(time.Duration(3*i+1) * time.Second))
		all = append(all, with(skew).start(t))
	}
	sleepUntil(from.Add(11500 * time.Millisecond))
	first.stop(t)
	all = append(all, with(-time.Second).start(t))
	sleepUntil(from.Add((seconds + 4) * time.Second))
	r.awaitRuns(t, ticksPerSecond*seconds, from.Unix(), from.Unix()+seconds)
	stopAll(t, all)
	logged := logsOf(append(all, first))
	counts := r.runs(t)
	total := 0
	for job := range clusterJobs {
		for at := from.Unix(); at < from.Unix()+seconds; at++ {
			if at%clusterPeriod != int64(job%clusterPeriod) {
				continue
			}
			run := fmt.Sprintf("job-%d@%d", job, at)
			total += counts[run]
			if counts[run] != 1 {
				t.Errorf("%s has %d runs, want 1; log of the replicas: %q",
					run, counts[run], logged[run])
			}
		}
	}
	t.Logf("%d ticks, %d runs", ticksPerSecond*seconds, total)
}

// Replicas are killed at any time and replaced.
func TestSingleRun_KilledProcesses(t *testing.T) { forEachBackend(t, testKilledProcesses) }

func testKilledProcesses(t *testing.T, r replica) {
	t.Helper()
	var all []*process
	start := func() {
		r.Skew = time.Duration(rand.Int64N(int64(4*time.Second))) - 2*time.Second
		all = append(all, r.start(t))
	}
	from := time.Now()
	for range 5 {
		start()
	}
	const kills = 8
	for i := range kills {
		sleepUntil(from.Add(2*time.Second + time.Duration(i)*700*time.Millisecond))
		at := rand.IntN(len(all))
		all[at].kill()
		all = slices.Delete(all, at, at+1)
		start()
	}
	sleep(time.Second)
	stopAll(t, all)
	ticks := ticksPerSecond * int(time.Since(from)/time.Second+5)
	counts := r.runs(t)
	for run, n := range counts {
		if n != 1 {
			t.Errorf("%s has %d runs, want at most 1", run, n)
		}
	}
	if len(counts) > ticks || len(counts) < ticksPerSecond {
		t.Errorf("%d runs, want %d to %d", len(counts), ticksPerSecond, ticks)
	}
	t.Logf("%d processes killed: %d ticks, %d runs", kills, ticks, len(counts))
}
