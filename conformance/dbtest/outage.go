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
	// failsWithin is the most that a statement takes to notice that the server is gone.
	failsWithin = 2 * time.Second
	// recoversWithin is the most that a pool takes to work again.
	recoversWithin = 5 * time.Second

	users = 4 // goroutines that use the database all the time
)

// needServer ends the case where the database has no server.
func (s *suite) needServer(tb testing.TB) {
	if s.differs(DiffNoServer) {
		tb.Skip("there is no server that could stop")
	}
	if s.Outage == nil {
		tb.Fatalf("the harness has no Outage, and does not declare %s", DiffNoServer)
	}
}

func testOutage(tb testing.TB, s *suite) {
	s.needServer(tb)
	s.survives(tb, s.Outage(tb))
}

func testCutOff(tb testing.TB, s *suite) {
	s.needServer(tb)
	s.survives(tb, CutOff(tb, s.Config(tb)))
}

// survives lets an outage begin and end while the database is used. The program is not
// started again, nor is its pool opened anew.
func (s *suite) survives(tb testing.TB, outage Outage) {
	o := s.options(tb, &note{})
	o.Parts = outage.Config
	db := s.openWith(tb, o)
	check(tb, create(db, "before"), "create")
	work := s.beginWork(tb, db)
	use := startUse(db)
	stopped := false
	defer func() {
		use.end()
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

	use.end()
	use.wantKept(tb, db)
	var kept, lost int64
	check(tb, db.Model(&note{}).Where("text = ?", "before").Count(&kept).Error, "count")
	check(tb, db.Model(&note{}).Where("text = ?", "never kept").Count(&lost).Error, "count")
	if kept != 1 || lost != 0 {
		tb.Errorf("rows from before the outage = %d, of open transactions = %d; want 1 and 0",
			kept, lost)
	}
}

// pause waits for something that cannot be asked for.
func pause(d time.Duration) { <-time.After(d) }

// work is what is under way when the server stops.
type work struct {
	writer, committer *gorm.DB
	tx                *sql.Tx
	slow, rawSlow     chan error
	cancel            context.CancelFunc
}

// beginWork begins transactions and statements that take long, with gorm and with its
// pool alone.
func (s *suite) beginWork(tb testing.TB, db *gorm.DB) *work {
	w := &work{
		writer: db.Begin(), committer: db.Begin(), slow: make(chan error, 1),
		rawSlow: make(chan error, 1),
	}
	for _, tx := range []*gorm.DB{w.writer, w.committer} {
		check(tb, tx.Error, "begin")
		check(tb, create(tx, "never kept"), "create in a transaction")
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

// poolOf returns the pool below a handle.
func poolOf(tb testing.TB, db *gorm.DB) *sql.DB {
	pool, err := db.DB()
	check(tb, err, "the pool")
	return pool
}

func (w *work) wantBroken(tb testing.TB) {
	for name, slow := range map[string]chan error{"gorm": w.slow, "database/sql": w.rawSlow} {
		select {
		case err := <-slow:
			wantUnavailable(tb, "the running statement of "+name, err)
		case <-time.After(failsWithin):
			tb.Errorf("the running statement of %s has not ended after %s", name, failsWithin)
		}
	}
	within(tb, "a commit of database/sql", w.tx.Commit)
	within(tb, "a transaction's statement", func() error { return create(w.writer, "never kept") })
	within(tb, "a transaction's commit", func() error { return w.committer.Commit().Error })
}

// end lets go of the connections.
func (w *work) end() {
	w.cancel()
	w.committer.Rollback()
	w.writer.Rollback()
	_ = w.tx.Rollback() // done, unless the test has failed
}

// within complains where do takes longer than a statement may without a server, or has
// another error than it should.
func within(tb testing.TB, what string, do func() error) {
	start := time.Now()
	err := do()
	if took := time.Since(start); took > failsWithin {
		tb.Errorf("%s returned after %s, want it within %s", what, took, failsWithin)
	}
	wantUnavailable(tb, what, err)
}

// wantUnavailable complains of another error than that of a server which is gone, and
// reports whether there was nothing to complain of.
func wantUnavailable(tb testing.TB, what string, err error) bool {
	if err == nil {
		tb.Errorf("%s has no error, although the server is gone", what)
		return false
	}
	code := codeOf(err)
	if code == xerror.ServiceUnavailable && code.Status() == http.StatusServiceUnavailable {
		return true
	}
	tb.Errorf("%s: code = %v, want %v (%T: %v)", what, code, xerror.ServiceUnavailable, err, err)
	return false
}

// wantOutage asks for everything that needs the server, and from many goroutines too: no
// connection may be waited for.
func (s *suite) wantOutage(tb testing.TB, db *gorm.DB) {
	pool := poolOf(tb, db)
	count := "SELECT count(*) FROM " + s.prefix + "notes"
	ways := map[string]func() error{
		"DB.QueryRow": func() error { return pool.QueryRowContext(s.ctx, count).Scan(new(int64)) },
		"DB.Exec": func() error {
			_, err := pool.ExecContext(s.ctx, "DELETE FROM "+s.prefix+"notes") //nolint:gosec // the prefix is the suite's own
			return err
		},
		"DB.Ping": func() error { return pool.PingContext(s.ctx) },

		"First":  func() error { return db.First(&note{}).Error },
		"Create": func() error { return create(db, "never kept") },
		"Raw":    func() error { return db.Raw(count).Scan(new(int64)).Error },
		"Exec":   func() error { return db.Exec("DELETE FROM " + s.prefix + "notes").Error },
		"Transaction": func() error {
			return db.Transaction(func(tx *gorm.DB) error { return create(tx, "never kept") })
		},
		"CheckHealth": func() error { return xdb.CheckHealth(s.ctx, db) },
	}
	for range 2 {
		for name, do := range ways {
			within(tb, name, do)
		}
	}
	start := time.Now()
	for _, err := range inParallel(50, func(int) error { return create(db, "never kept") }) {
		if !wantUnavailable(tb, "one of fifty", err) {
			break
		}
	}
	if took := time.Since(start); took > 2*failsWithin {
		tb.Errorf("fifty statements at the same time took %s", took)
	}
}

// wantNoOpen opens a second pool while the server is gone.
func (s *suite) wantNoOpen(tb testing.TB, o xdb.Options) {
	o.ConnectTimeout = time.Second
	start := time.Now()
	db, err := s.registry.Open(s.ctx, o)
	if err == nil {
		tb.Error("Open succeeded without a server")
		check(tb, xdb.Close(db), "close")
		return
	}
	if took := time.Since(start); took > failsWithin {
		tb.Errorf("Open returned after %s, want it soon after its timeout of %s",
			took, o.ConnectTimeout)
	}
	if text := err.Error(); !strings.Contains(text, "gave up at attempt") || o.Parts.Pass != "" &&
		strings.Contains(text, o.Parts.Pass) {
		tb.Errorf("Open = %q, want that it gave up, and no password", text)
	}
	wantUnavailable(tb, "Open", err)
	if s.log.count("database not reachable yet") == 0 {
		tb.Error("Open tried once")
	}
}

// wantRecovery uses the same pool until all of it works.
func (s *suite) wantRecovery(tb testing.TB, db *gorm.DB) {
	deadline := time.Now().Add(recoversWithin)
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for {
		err := errors.Join(xdb.CheckHealth(s.ctx, db),
			firstOf(inParallel(20, func(int) error { return create(db, "after") })))
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			tb.Fatalf("the pool does not work %s after the server was back: %v",
				recoversWithin, err)
		}
		<-again.C
	}
}

// testSilence lets nothing through to a server to which connections stand, as a firewall
// does or a host without power.
func testSilence(tb testing.TB, s *suite) {
	s.needServer(tb)
	r := beginRelay(tb, s.Config(tb), "127.0.0.1:0")
	o := s.options(tb, &note{})
	o.Parts = inFrontOf(tb, r, o.Parts)
	db := s.openWith(tb, o)
	check(tb, create(db, "before"), "create")

	r.Silence()
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
		promptly(tb, what, context.DeadlineExceeded, func() error {
			ctx, cancel := context.WithTimeout(s.ctx, soon)
			defer cancel()
			return do(ctx)
		})
	}
	r.Speak()
	s.wantRecovery(tb, db)
	check(tb, db.Where("text = ?", "before").First(&note{}).Error, "read what was written before")
}

// use are goroutines that write rows one after the other, come what may.
type use struct {
	once    sync.Once
	stop    chan struct{}
	running sync.WaitGroup

	mu      sync.Mutex
	kept    []xsnowflake.SnowflakeID // rows whose insert had no error
	errs    []error
	slowest time.Duration
}

func startUse(db *gorm.DB) *use {
	u := &use{stop: make(chan struct{})}
	for range users {
		u.running.Go(func() {
			again := time.NewTicker(20 * time.Millisecond)
			defer again.Stop()
			for {
				select {
				case <-u.stop:
					return
				case <-again.C:
					u.write(db)
				}
			}
		})
	}
	return u
}

func (u *use) write(db *gorm.DB) {
	n := note{Text: "used"}
	start := time.Now()
	err := db.Create(&n).Error
	took := time.Since(start)
	u.mu.Lock()
	defer u.mu.Unlock()
	u.slowest = max(u.slowest, took)
	if err != nil {
		u.errs = append(u.errs, err)
	} else {
		u.kept = append(u.kept, n.ID)
	}
}

func (u *use) end() {
	u.once.Do(func() { close(u.stop) })
	u.running.Wait()
}

// wantKept complains where a row is gone whose insert had succeeded, or a failure was
// slow or of another kind.
func (u *use) wantKept(tb testing.TB, db *gorm.DB) {
	seen := map[string]bool{}
	for _, err := range u.errs {
		if text := fmt.Sprintf("%v %T: %v",
			codeOf(err), err, err); codeOf(err) != xerror.ServiceUnavailable && !seen[text] {
			seen[text] = true
			tb.Errorf("code of a write during the outage = %s, want %v",
				text, xerror.ServiceUnavailable)
		}
	}
	if len(u.errs) == 0 {
		tb.Error("nobody noticed the outage")
	}
	if u.slowest > failsWithin {
		tb.Errorf("the slowest write took %s, want at most %s", u.slowest, failsWithin)
	}
	for _, id := range u.kept {
		if err := db.First(&note{}, id).Error; err != nil {
			tb.Errorf("the row %d of a write that had succeeded: %v", id, err)
			return
		}
	}
}
