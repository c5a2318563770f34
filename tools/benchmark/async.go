package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/alitto/pond/v2"
	"gorm.io/gorm"

	"github.com/plinthgo/plinth/asyncx"
	"github.com/plinthgo/plinth/asyncx/job"
	"github.com/plinthgo/plinth/asyncx/outbox"
	"github.com/plinthgo/plinth/asyncx/river"
	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
	"github.com/plinthgo/plinth/core/major/xhook"
	_ "github.com/plinthgo/plinth/dbplugins/postgres"
	"github.com/plinthgo/plinth/dbplugins/sqlite"
)

// asyncs compares background tasks with their building blocks.
func asyncs() []comparison {
	lifecycle := xhook.New()
	ctx, cancel := context.WithCancel(xhook.NewContext(context.Background(), lifecycle))
	atExit(cancel)
	ours := benchCall(func() error { return asyncx.Async(ctx, func(context.Context) {}).Wait(ctx) })
	pool := pond.NewPool(asyncx.DefaultConcurrency)
	return []comparison{
		{
			name: "work in the background, awaited", peer: "pond", allocs: -1,
			ours: ours, theirs: benchCall(func() error { return pool.Submit(func() {}).Wait() }),
		},
		{
			name: "work in the background, awaited", peer: "go and a channel", allocs: -1,
			ours: ours, theirs: benchCall(func() error {
				done := make(chan struct{})
				go close(done)
				<-done
				return nil
			}),
		},
	}
}

// batchOfJobs is the number of jobs that an operation stores and waits for.
const batchOfJobs = 200

// jobs compares storing a job with an insert of a row of the same size, and the outbox
// with River on PostgreSQL if a server is available.
func jobs() []comparison {
	dir := must(os.MkdirTemp("", "plinth-benchmark-"))
	atExit(func() { _ = os.RemoveAll(dir) })
	file := openJobs(xdb.Options{
		Driver: sqlite.Name,
		Parts:  driver.Config{Source: xenv.Map{"DATABASE_PATH": filepath.Join(dir, "jobs.db")}},
	})
	stored := file.queue(outbox.Open())
	all := []comparison{{
		name: "store a job on SQLite", peer: "insert of a row through gorm", allocs: -1,
		ours: benchCall(func() error {
			_, err := pinged.Enqueue(stored, "operator")
			return err
		}),
		theirs: file.insert(),
	}}
	dsn, err := serverOf(context.Background(), "postgres", "PLINTH_TEST_POSTGRES_DSN")
	if err != nil {
		fmt.Fprintln(os.Stderr, "benchmark: skip jobs on PostgreSQL:", err)
		return all
	}
	db := openJobs(xdb.Options{Driver: "postgres", DSN: xlog.Secret(dsn)})
	return append(all, comparison{
		name: fmt.Sprintf("%d jobs stored and done on PostgreSQL, 10 at a time", batchOfJobs),
		peer: "River", allocs: -1,
		ours: db.work(outbox.Open()), theirs: db.work(river.Open()),
	})
}

var pinged = job.NewKind[string]("benchmark.pinged")

// jobsDatabase is a database for jobs.
type jobsDatabase struct {
	ctx context.Context // carries the database
	db  *gorm.DB
}

func openJobs(o xdb.Options) jobsDatabase {
	db := must(xdb.Open(context.Background(), o))
	atExit(func() { _ = xdb.Close(db) })
	return jobsDatabase{context.WithValue(context.Background(), xctx.DatabaseKey, db), db}
}

// queue returns a context with a queue.
func (d jobsDatabase) queue(open job.Opener) context.Context {
	return context.WithValue(d.ctx, xctx.JobQueueKey, job.NewQueue(must(open(d.ctx))))
}

// note is a row with about as much data as a job.
type note struct {
	ID    string `gorm:"size:36;primaryKey"`
	Kind  string `gorm:"size:100;index"`
	Text  string `gorm:"size:1000"`
	DueUS int64  `gorm:"index"`
}

func (d jobsDatabase) insert() func(*testing.B) {
	if err := d.db.AutoMigrate(&note{}); err != nil {
		panic(err)
	}
	n := 0
	return benchCall(func() error {
		n++
		return d.db.Create(&note{
			ID: fmt.Sprintf("%036d", n), Kind: "benchmark.pinged",
			Text: `"operator"`, DueUS: time.Now().UnixMicro(),
		}).Error
	})
}

// work stores jobs and waits until a worker has processed them. The worker runs for the
// whole measurement.
func (d jobsDatabase) work(open job.Opener) func(*testing.B) {
	return func(b *testing.B) {
		b.Helper()
		ctx, cancel := context.WithCancel(d.queue(open))
		var done sync.WaitGroup
		workErr := make(chan error, 1)
		handler := pinged.Handle(func(context.Context, string) error {
			done.Done()
			return nil
		})
		quiet := must(xlog.New(xlog.Config{
			Level: slog.LevelError + 1, Writer: os.Stderr, Format: xlog.FormatJSON,
		}))
		go func() { workErr <- job.Work(xlog.NewContext(ctx, quiet), job.WithHandlers(handler)) }()
		args := make([]string, batchOfJobs)
		for b.Loop() {
			done.Add(batchOfJobs)
			if _, err := pinged.EnqueueMany(ctx, args); err != nil {
				b.Fatal(err)
			}
			done.Wait()
		}
		cancel()
		if err := <-workErr; err != nil {
			b.Fatal(err)
		}
	}
}
