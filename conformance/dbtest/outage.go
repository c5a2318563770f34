package dbtest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/major/xdb"
)

var outageCases = []testCase{
	{"Outage/fails fast and recovers", testOutage},
	{"Outage/recovers from a network failure", testCutOff},
	{"Outage/silent server does not block callers", testSilence},
}

const (
	// failsWithin is the time limit for a statement to fail after the server stopped.
	failsWithin = 2 * time.Second
	// recoversWithin is the time limit for a pool to recover.
	recoversWithin = 5 * time.Second

	writerCount = 4 // number of goroutines of rowWriters
)

// needServer skips the check if the database has no server.
func (s *suite) needServer(tb testing.TB) {
	if s.differs(DiffNoServer) {
		tb.Skip("the database has no server")
	}
	if s.Outage == nil {
		tb.Fatalf("the harness has no Outage and does not declare %s", DiffNoServer)
	}
}

func testOutage(tb testing.TB, s *suite) {
	s.needServer(tb)
	s.testRecovery(tb, s.Outage(tb))
}

func testCutOff(tb testing.TB, s *suite) {
	s.needServer(tb)
	s.testRecovery(tb, CutOff(tb, s.Config(tb)))
}

// testRecovery stops and starts the server while one pool is in use.
func (s *suite) testRecovery(tb testing.TB, outage Outage) {
	o := s.options(tb, &note{})
	o.Parts = outage.Config
	db := s.openWith(tb, o)
	check(tb, create(db, "before"), "create")
	work := s.startWork(tb, db)
	writers := startWriters(db)
	stopped := false
	defer func() {
		writers.end()
		work.end()
		if stopped {
			check(tb, outage.Start(), "start the server")
		}
	}()
	pause(200 * time.Millisecond)

	stopped = true
	check(tb, outage.Stop(), "stop the server")
	work.wantBroken(tb)
	s.wantOutage(tb, db)
	s.wantNoOpen(tb, o)
	check(tb, outage.Start(), "start the server")
	stopped = false
	s.wantRecovery(tb, db)

	writers.end()
	writers.wantStored(tb, db)
	var before, uncommitted int64
	check(tb, db.Model(&note{}).Where("text = ?", "before").Count(&before).Error, "count")
	check(tb, db.Model(&note{}).Where("text = ?", "uncommitted").Count(&uncommitted).Error, "count")
	if before != 1 || uncommitted != 0 {
		tb.Errorf("rows from before the outage = %d, of open transactions = %d; want 1 and 0",
			before, uncommitted)
	}
}

// pause waits for a condition that cannot be observed.
func pause(d time.Duration) { <-time.After(d) }

// work contains the statements and transactions that are running when the server stops.
type work struct {
	writer, committer *gorm.DB
	tx                *sql.Tx
	slow, rawSlow     chan error
	cancel            context.CancelFunc
}

// startWork starts transactions and slow statements, with gorm and with its pool.
func (s *suite) startWork(tb testing.TB, db *gorm.DB) *work {
	w := &work{
		writer: db.Begin(), committer: db.Begin(),
		slow: make(chan error, 1), rawSlow: make(chan error, 1),
	}
	for _, tx := range []*gorm.DB{w.writer, w.committer} {
		check(tb, tx.Error, "begin")
		check(tb, create(tx, "uncommitted"), "create in a transaction")
	}
	ctx, cancel := context.WithCancel(s.ctx)
	w.cancel = cancel
	pool := poolOf(tb, db)
	var err error
	w.tx, err = pool.BeginTx(s.ctx, nil)
	check(tb, err, "begin with the pool")
	go func() {
		var n int64
		w.rawSlow <- pool.QueryRowContext(ctx, s.Slow).Scan(&n)
	}()
	go func() {
		var n int64
		w.slow <- db.WithContext(ctx).Raw(s.Slow).Scan(&n).Error
	}()
	return w
}

func poolOf(tb testing.TB, db *gorm.DB) *sql.DB {
	pool, err := db.DB()
	check(tb, err, "the pool")
	return pool
}

// wantBroken reports statements and transactions that do not fail.
func (w *work) wantBroken(tb testing.TB) {
	for name, slow := range map[string]chan error{"gorm": w.slow, "database/sql": w.rawSlow} {
		select {
		case err := <-slow:
			wantUnavailable(tb, "the running statement of "+name, err)
		case <-time.After(failsWithin):
			tb.Errorf("the running statement of %s has not returned after %s", name, failsWithin)
		}
	}
	wantFastFailure(tb, "a commit of database/sql", w.tx.Commit)
	wantFastFailure(tb, "a transaction's statement",
		func() error { return create(w.writer, "uncommitted") })
	wantFastFailure(tb, "a transaction's commit",
		func() error { return w.committer.Commit().Error })
}

// end releases the connections.
func (w *work) end() {
	w.cancel()
	w.committer.Rollback()
	w.writer.Rollback()
	_ = w.tx.Rollback() // already done, unless the test failed
}

// wantFastFailure reports an error unless do fails within failsWithin, with the error of
// an unavailable server.
func wantFastFailure(tb testing.TB, what string, do func() error) {
	start := time.Now()
	err := do()
	if elapsed := time.Since(start); elapsed > failsWithin {
		tb.Errorf("%s returned after %s, want it within %s", what, elapsed, failsWithin)
	}
	wantUnavailable(tb, what, err)
}

// wantUnavailable reports an error, and returns false, unless err is the error of an
// unavailable server.
func wantUnavailable(tb testing.TB, what string, err error) bool {
	if err == nil {
		tb.Errorf("%s succeeded without a server", what)
		return false
	}
	code := codeOf(err)
	if code == xerror.ServiceUnavailable && code.Status() == http.StatusServiceUnavailable {
		return true
	}
	tb.Errorf("%s: code = %v, want %v (%T: %v)", what, code, xerror.ServiceUnavailable, err, err)
	return false
}

// wantOutage calls operations that need the server, also from 50 goroutines. No call may
// wait for a connection.
func (s *suite) wantOutage(tb testing.TB, db *gorm.DB) {
	pool := poolOf(tb, db)
	table := s.prefix + "notes"
	count := "SELECT count(*) FROM " + table
	calls := map[string]func() error{
		"DB.QueryRow": func() error { return pool.QueryRowContext(s.ctx, count).Scan(new(int64)) },
		"DB.Exec": func() error {
			_, err := pool.ExecContext(s.ctx, "DELETE FROM "+table) //nolint:gosec // no input
			return err
		},
		"DB.Ping": func() error { return pool.PingContext(s.ctx) },

		"First":  func() error { return db.First(&note{}).Error },
		"Create": func() error { return create(db, "uncommitted") },
		"Raw":    func() error { return db.Raw(count).Scan(new(int64)).Error },
		"Exec":   func() error { return db.Exec("DELETE FROM " + table).Error },
		"Transaction": func() error {
			return db.Transaction(func(tx *gorm.DB) error { return create(tx, "uncommitted") })
		},
		"CheckHealth": func() error { return xdb.CheckHealth(s.ctx, db) },
	}
	for range 2 {
		for name, do := range calls {
			wantFastFailure(tb, name, do)
		}
	}
	start := time.Now()
	for _, err := range inParallel(50, func(int) error { return create(db, "uncommitted") }) {
		if !wantUnavailable(tb, "a concurrent statement", err) {
			break
		}
	}
	if elapsed := time.Since(start); elapsed > 2*failsWithin {
		tb.Errorf("50 concurrent statements took %s", elapsed)
	}
}

// wantNoOpen reports an error unless Open retries and fails.
func (s *suite) wantNoOpen(tb testing.TB, o xdb.Options) {
	o.ConnectTimeout = time.Second
	start := time.Now()
	db, err := s.registry.Open(s.ctx, o)
	if err == nil {
		tb.Error("Open succeeded without a server")
		check(tb, xdb.Close(db), "close")
		return
	}
	if elapsed := time.Since(start); elapsed > failsWithin {
		tb.Errorf("Open returned after %s, want it soon after its timeout of %s",
			elapsed, o.ConnectTimeout)
	}
	if text := err.Error(); !strings.Contains(text, "failed at attempt") ||
		o.Parts.Pass != "" && strings.Contains(text, o.Parts.Pass) {
		tb.Errorf("Open = %q, want the number of attempts and no password", text)
	}
	wantUnavailable(tb, "Open", err)
	if s.log.count("database not reachable yet") == 0 {
		tb.Error("Open did not retry")
	}
}

// wantRecovery uses the pool until every operation succeeds.
func (s *suite) wantRecovery(tb testing.TB, db *gorm.DB) {
	deadline := time.Now().Add(recoversWithin)
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for {
		err := errors.Join(xdb.CheckHealth(s.ctx, db),
			firstError(inParallel(20, func(int) error { return create(db, "after") })))
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			tb.Fatalf("the pool has not recovered %s after the server started: %v",
				recoversWithin, err)
		}
		<-ticker.C
	}
}

// testSilence drops all traffic of open connections, like a firewall or a host without
// power.
func testSilence(tb testing.TB, s *suite) {
	s.needServer(tb)
	r := startRelay(tb, s.Config(tb), "127.0.0.1:0")
	o := s.options(tb, &note{})
	o.Parts = throughRelay(tb, r, o.Parts)
	db := s.openWith(tb, o)
	check(tb, create(db, "before"), "create")

	r.Block()
	for what, do := range map[string]func(ctx context.Context) error{
		"First": func(ctx context.Context) error {
			return db.WithContext(ctx).First(&note{}).Error
		},
		"Create": func(ctx context.Context) error { return create(db.WithContext(ctx), "maybe") },
		"Transaction": func(ctx context.Context) error {
			return db.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
				return create(tx, "maybe")
			})
		},
		"CheckHealth": func(ctx context.Context) error { return xdb.CheckHealth(ctx, db) },
		"Open": func(ctx context.Context) error {
			other, err := s.registry.Open(ctx, o)
			return errors.Join(err, xdb.Close(other))
		},
	} {
		wantPrompt(tb, what, context.DeadlineExceeded, func() error {
			ctx, cancel := context.WithTimeout(s.ctx, cancelAfter)
			defer cancel()
			return do(ctx)
		})
	}
	r.Unblock()
	s.wantRecovery(tb, db)
	check(tb, db.Where("text = ?", "before").First(&note{}).Error,
		"read the row from before the outage")
}

// rowWriters are goroutines that insert rows continuously.
type rowWriters struct {
	once    sync.Once
	stop    chan struct{}
	running sync.WaitGroup

	mu      sync.Mutex
	stored  []xsnowflake.SnowflakeID // rows whose insert succeeded
	errs    []error
	slowest time.Duration
}

func startWriters(db *gorm.DB) *rowWriters {
	w := &rowWriters{stop: make(chan struct{})}
	for range writerCount {
		w.running.Go(func() {
			ticker := time.NewTicker(20 * time.Millisecond)
			defer ticker.Stop()
			for {
				select {
				case <-w.stop:
					return
				case <-ticker.C:
					w.write(db)
				}
			}
		})
	}
	return w
}

func (w *rowWriters) write(db *gorm.DB) {
	n := note{Text: "written"}
	start := time.Now()
	err := db.Create(&n).Error
	elapsed := time.Since(start)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.slowest = max(w.slowest, elapsed)
	if err != nil {
		w.errs = append(w.errs, err)
	} else {
		w.stored = append(w.stored, n.ID)
	}
}

func (w *rowWriters) end() {
	w.once.Do(func() { close(w.stop) })
	w.running.Wait()
}

// wantStored reports rows that are missing although their insert succeeded, and failures
// that were slow or have another code.
func (w *rowWriters) wantStored(tb testing.TB, db *gorm.DB) {
	seen := map[string]bool{}
	for _, err := range w.errs {
		text := fmt.Sprintf("%v %T: %v", codeOf(err), err, err)
		if codeOf(err) != xerror.ServiceUnavailable && !seen[text] {
			seen[text] = true
			tb.Errorf("code of a write during the outage = %s, want %v",
				text, xerror.ServiceUnavailable)
		}
	}
	if len(w.errs) == 0 {
		tb.Error("no write failed during the outage")
	}
	if w.slowest > failsWithin {
		tb.Errorf("the slowest write took %s, want at most %s", w.slowest, failsWithin)
	}
	for _, id := range w.stored {
		if err := db.First(&note{}, id).Error; err != nil {
			tb.Errorf("row %d of a successful write: %v", id, err)
			return
		}
	}
}
