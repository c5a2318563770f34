package outbox_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/logger"
	"gorm.io/gorm/utils/tests"

	"github.com/plinthgo/plinth/asyncx/job"
	jobdriver "github.com/plinthgo/plinth/asyncx/job/driver"
	"github.com/plinthgo/plinth/asyncx/outbox"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
	"github.com/plinthgo/plinth/core/major/xdb/systable"
	"github.com/plinthgo/plinth/dbplugins/sqlite"
)

// inMemory opens a new in-memory database.
func inMemory(tb testing.TB, change ...func(o *xdb.Options)) *gorm.DB {
	tb.Helper()
	o := xdb.Options{
		Driver: sqlite.Name,
		Parts:  driver.Config{Source: xenv.Map{"DATABASE_PATH": ":memory:"}},
	}
	for _, c := range change {
		c(&o)
	}
	return open(tb, o)
}

func TestOpen(t *testing.T) {
	t.Run("reports configuration errors", func(t *testing.T) {
		plain, err := gorm.Open(tests.DummyDialector{}, &gorm.Config{DisableAutomaticPing: true})
		if err != nil {
			t.Fatal(err)
		}
		incompatible := inMemory(t)
		if err := incompatible.Exec("CREATE TABLE plinth_jobs (id text)").Error; err != nil {
			t.Fatal(err)
		}
		for _, tc := range []struct {
			name    string
			options []outbox.Option
			wantErr error
			want    string
		}{
			{
				name: "no database",
				want: "the application has no database: use xoption.WithDatabase or WithDB",
			},
			{
				name:    "nil database",
				options: []outbox.Option{outbox.WithDB(nil)}, wantErr: job.ErrOption,
				want: "the database is nil",
			},
			{
				name: "no clock", options: []outbox.Option{outbox.WithDB(plain)},
				wantErr: systable.ErrUnsupported, want: "dummy database was not opened",
			},
			{
				name: "too short", options: []outbox.Option{outbox.WithTakeoverTimeout(time.Millisecond)},
				wantErr: job.ErrOption, want: "1ms is not between 200ms and 1h",
			},
			{
				name: "too long", options: []outbox.Option{outbox.WithTakeoverTimeout(2 * time.Hour)},
				wantErr: job.ErrOption, want: "2h0m0s is not between",
			},
			{
				name: "incompatible table", options: []outbox.Option{outbox.WithDB(incompatible)},
				want: "the table plinth_jobs does not have the columns of a job table",
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				e, err := outbox.Open(tc.options...)(quiet(t))
				if err == nil || !strings.Contains(err.Error(), tc.want) || tc.wantErr != nil &&
					!errors.Is(err, tc.wantErr) {
					t.Errorf("Open = %v, %v; want an error that contains %q", e, err, tc.want)
				}
			})
		}
	})

	t.Run("creates the table once, with the prefix", func(t *testing.T) {
		db := inMemory(t, func(o *xdb.Options) { o.TablePrefix = "app_" })
		ctx, first := engine(t, db)
		if err := first.Insert(ctx, newJobs(1)); err != nil {
			t.Fatal(err)
		}
		_, second := engine(t, db)
		page, err := second.List(ctx, jobdriver.Query{State: jobdriver.Waiting, Limit: 9})
		if err != nil || len(page) != 1 || !db.Migrator().HasTable("app_plinth_jobs") ||
			db.Migrator().HasTable("plinth_jobs") {
			t.Errorf("%d waiting jobs, %v; want 1 job in app_plinth_jobs", len(page), err)
		}
		if got := first.Capabilities(); got.Name != "outbox on sqlite" || !got.Transactional ||
			got.TakeoverTimeout != 30*time.Second {
			t.Errorf("Capabilities = %+v", got)
		}
	})
}

func TestEngine_Insert(t *testing.T) {
	t.Run("rejects a transaction of another database", func(t *testing.T) {
		db := inMemory(t)
		ctx, e := engine(t, db, outbox.WithDB(inMemory(t)))
		err := xdb.Transaction(ctx,
			func(ctx context.Context) error { return e.Insert(ctx, newJobs(1)) })
		if !errors.Is(err, job.ErrTransaction) {
			t.Errorf("Insert = %v, want %v", err, job.ErrTransaction)
		}
		if err := e.Insert(ctx, newJobs(1)); err != nil {
			t.Errorf("Insert outside the transaction = %v", err)
		}
	})

	t.Run("joins a transaction of gorm.DB.Begin", func(t *testing.T) {
		ctx, e := engine(t, inMemory(t))
		db := xdb.MustGetDB(ctx)
		for _, tc := range []struct {
			name string
			end  func(tx *gorm.DB) *gorm.DB
			want int
		}{
			{name: "rolled back", end: (*gorm.DB).Rollback, want: 0},
			{name: "committed", end: (*gorm.DB).Commit, want: 1},
		} {
			t.Run(tc.name, func(t *testing.T) {
				tx := db.Begin()
				if err := errors.Join(e.Insert(xdb.NewContext(ctx, tx), newJobs(1)),
					tc.end(tx).Error); err != nil {
					t.Fatal(err)
				}
				page, err := e.List(ctx, jobdriver.Query{State: jobdriver.Waiting, Limit: 9})
				if err != nil || len(page) != tc.want {
					t.Errorf("%d jobs, %v; want %d", len(page), err, tc.want)
				}
			})
		}
	})
}

// lines is a gorm logger that records statements with their parameters.
type lines struct {
	logger.Interface

	mu  sync.Mutex
	all []string
}

// LogMode implements logger.Interface.
func (l *lines) LogMode(logger.LogLevel) logger.Interface { return l }

// Trace implements logger.Interface.
func (l *lines) Trace(
	_ context.Context, _ time.Time, statement func() (sql string, rows int64), _ error,
) {
	sql, _ := statement()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, sql)
}

func TestEngine_Redaction(t *testing.T) {
	const secret = "hunter2"
	l := &lines{}
	c := &disconnector{}
	db := inMemory(t, func(o *xdb.Options) { o.Gorm = func(c *gorm.Config) { c.Logger = l } })
	if err := db.Use(c); err != nil {
		t.Fatal(err)
	}
	ctx, e := engine(t, db)
	jobs := newJobs(2, func(j *jobdriver.Job) { j.Args = []byte(`{"password":"` + secret + `"}`) })
	jobs[1].ID = jobs[0].ID
	duplicate := e.Insert(ctx, jobs)
	if !errors.Is(duplicate, gorm.ErrDuplicatedKey) {
		t.Errorf("Insert of a duplicate ID = %v", duplicate)
	}
	stored := e.Insert(ctx, jobs[:1])
	inTransaction := xdb.Transaction(ctx,
		func(ctx context.Context) error { return e.Insert(ctx, jobs[:1]) })
	broken := db.Exec("UPDATE plinth_jobs SET meta = ?", secret).Error
	_, unreadable := e.Get(ctx, jobs[0].ID)
	c.down.Store(true)
	disconnected := e.Insert(ctx, jobs[:1])
	if err := errors.Join(stored, broken); err != nil || inTransaction == nil ||
		unreadable == nil || disconnected == nil {
		t.Fatal(err, inTransaction, unreadable, disconnected)
	}
	for _, err := range []error{duplicate, inTransaction, unreadable, disconnected} {
		if strings.Contains(err.Error(), secret) {
			t.Errorf("the error %q contains the arguments", err)
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	found := slices.DeleteFunc(l.all, func(line string) bool {
		return strings.HasPrefix(line, "UPDATE plinth_jobs SET meta")
	})
	if all := strings.Join(found, "\n"); strings.Contains(all, secret) {
		t.Errorf("the log contains the arguments:\n%s", all)
	}
}

func TestEngine_Work(t *testing.T) {
	t.Run("runs a job of this process before the next poll", func(t *testing.T) {
		ctx, e := engine(t, inMemory(t))
		working, cancel := context.WithCancel(ctx)
		ran := make(chan string, 9)
		var work sync.WaitGroup
		work.Go(func() {
			err := e.Work(working, jobdriver.Work{
				Kinds: []string{"test"}, Concurrency: 1, PollInterval: time.Hour,
				Run: func(_ context.Context, a jobdriver.Attempt) jobdriver.Outcome {
					ran <- a.ID
					return jobdriver.Outcome{}
				},
			})
			if err != nil {
				t.Error(err)
			}
		})
		timeout := time.After(20 * time.Second)
		for _, insert := range []func(jobs []jobdriver.Job) error{
			func(jobs []jobdriver.Job) error { return e.Insert(ctx, jobs) },
			func(jobs []jobdriver.Job) error {
				return xdb.Transaction(ctx,
					func(ctx context.Context) error { return e.Insert(ctx, jobs) })
			},
		} {
			jobs := newJobs(1)
			if err := insert(jobs); err != nil {
				t.Fatal(err)
			}
			select {
			case id := <-ran:
				if id != jobs[0].ID {
					t.Errorf("%s ran, want %s", id, jobs[0].ID)
				}
			case <-timeout:
				t.Fatal("the job did not run before the poll")
			}
		}
		cancel()
		work.Wait()
	})

	t.Run("executes one statement per poll when idle", func(t *testing.T) {
		db := inMemory(t)
		c := &counter{}
		if err := db.Use(c); err != nil {
			t.Fatal(err)
		}
		ctx, e := engine(t, db)
		c.all.Store(0)
		ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
		defer cancel()
		if err := e.Work(ctx, jobdriver.Work{
			Kinds: []string{"test"}, Concurrency: 3,
			PollInterval: 100 * time.Millisecond,
		}); err != nil {
			t.Error(err)
		}
		if n := c.all.Load(); n > 45 { // the minimum pause is half a poll interval
			t.Errorf("%d statements in 2 s, want at most 45", n)
		}
	})

	t.Run("supports many kinds", func(t *testing.T) {
		ctx, e := engine(t, inMemory(t))
		kinds := make([]string, 2500)
		for i := range kinds {
			kinds[i] = "kind" + strings.Repeat("x", i%7) + time.Duration(i).String()
		}
		kinds[2400] = "test"
		if err := e.Insert(ctx, newJobs(3)); err != nil {
			t.Fatal(err)
		}
		working, cancel := context.WithCancel(ctx)
		defer cancel()
		ran := 0
		err := e.Work(working, jobdriver.Work{
			Kinds: kinds, Concurrency: 1, PollInterval: time.Second,
			Run: func(context.Context, jobdriver.Attempt) jobdriver.Outcome {
				if ran++; ran == 3 {
					cancel()
				}
				return jobdriver.Outcome{}
			},
		})
		if err != nil || ran != 3 {
			t.Errorf("%d jobs ran, %v; want 3", ran, err)
		}
	})

	t.Run("reports an outage", func(t *testing.T) {
		db, c := inMemory(t), &disconnector{}
		if err := db.Use(c); err != nil {
			t.Fatal(err)
		}
		ctx, e := engine(t, db)
		c.down.Store(true)
		ctx, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		var reported []string
		err := e.Work(ctx, jobdriver.Work{
			Kinds: []string{"test"}, Concurrency: 1, PollInterval: 10 * time.Millisecond,
			OnError: func(_ context.Context, operation string, err error) {
				reported = append(reported, operation+": "+err.Error())
			},
		})
		if err != nil || len(reported) == 0 ||
			!strings.Contains(reported[0], "claim: outbox: look for jobs: connection failed") {
			t.Errorf("reported %q, %v; want the outage", reported, err)
		}
	})
}
