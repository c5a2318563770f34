package sqlserver_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/major/xdb"
)

const slow = "WAITFOR DELAY '00:00:30'; SELECT 1"

func TestConn_Cancellation(t *testing.T) {
	var n int64
	operations := map[string]func(db *gorm.DB) error{
		"Raw":  func(db *gorm.DB) error { return db.Raw(slow).Scan(&n).Error },
		"Exec": func(db *gorm.DB) error { return db.Exec(slow).Error },
		"Find": func(db *gorm.DB) error {
			return db.Where("text = 'WAITFOR' AND id = ?", 1).Find(&[]note{}).Error
		},
		"Transaction": func(db *gorm.DB) error {
			return db.Transaction(func(tx *gorm.DB) error { return tx.Raw(slow).Scan(&n).Error })
		},
	}
	s := startDouble(t, when("WAITFOR", tdsReply{Hang: true}))
	db, _ := open(t, s, xdb.Options{MaxOpenConns: 1})
	for name, run := range operations {
		for _, want := range []error{context.Canceled, context.DeadlineExceeded} {
			s.Reset()
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			if errors.Is(want, context.Canceled) {
				ctx, cancel = context.WithCancel(t.Context())
				time.AfterFunc(100*time.Millisecond, cancel)
			}
			startTime := time.Now()
			err := run(db.WithContext(ctx))
			if elapsed := time.Since(startTime); !errors.Is(err, want) || elapsed > 10*time.Second {
				t.Errorf("%s = %v after %s, want %v", name, err, elapsed, want)
			}
			cancel()
			if !slices.Contains(kinds(s), tdsAttention) {
				t.Errorf("%s: the server received no cancellation: %v", name, kinds(s))
			}
			if err := db.Exec("UPDATE t SET x = 1").Error; err != nil {
				t.Errorf("%s: the next statement = %v", name, err)
			}
		}
	}
	if n := len(s.Logins()); n > 1 {
		t.Errorf("connections = %d, want the connection reused", n)
	}
}

func TestConn_SilentServer(t *testing.T) {
	hang := make(chan struct{})
	// silent selects the requests without a response: true means every statement, a kind
	// means requests of this kind.
	var silent atomic.Pointer[any]
	s := start(t, tdsOptions{
		Respond: func(r tdsRequest) tdsReply {
			if at := silent.Load(); at != nil && *at == any(true) {
				return tdsReply{Silent: true}
			}
			return empty(r)
		},
		Transaction: func(kind tdsKind) {
			if at := silent.Load(); at != nil && *at == any(kind) {
				<-hang
			}
		},
	})
	defer close(hang)
	db, _ := open(t, s, xdb.Options{})
	var n int64
	nothing := func(*gorm.DB) error { return nil }
	for name, op := range map[string]struct {
		at any
		do func(db *gorm.DB) error
	}{
		"Exec": {true, func(db *gorm.DB) error { return db.Exec("UPDATE t SET x = 1").Error }},
		"Raw":  {true, func(db *gorm.DB) error { return db.Raw("SELECT 1").Scan(&n).Error }},
		"Find": {true, func(db *gorm.DB) error { return db.Find(&[]note{}, 1).Error }},
		"Health": {true, func(db *gorm.DB) error {
			return xdb.CheckHealth(db.Statement.Context, db)
		}},
		"Begin":  {tdsBegin, func(db *gorm.DB) error { return db.Transaction(nothing) }},
		"Commit": {tdsCommit, func(db *gorm.DB) error { return db.Transaction(nothing) }},
		"in a transaction": {true, func(db *gorm.DB) error {
			return db.Transaction(func(tx *gorm.DB) error {
				return tx.Exec("UPDATE t SET x = 1").Error
			})
		}},
	} {
		silent.Store(&op.at)
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		startTime := time.Now()
		err := op.do(db.WithContext(ctx))
		if elapsed := time.Since(startTime); !errors.Is(err, context.DeadlineExceeded) ||
			elapsed > 10*time.Second {
			t.Errorf("%s = %v after %s, want DeadlineExceeded within 10 s", name, err, elapsed)
		}
		cancel()
		silent.Store(nil)
		if err := db.Exec("UPDATE t SET x = 1").Error; err != nil {
			t.Errorf("%s: the next statement = %v", name, err)
		}
	}
}

func TestTx_Rollback(t *testing.T) {
	t.Run("after the context is canceled", func(t *testing.T) {
		s := startDouble(t, nil)
		db, _ := open(t, s, xdb.Options{})
		s.Reset()
		ctx, cancel := context.WithCancel(t.Context())
		tx := db.WithContext(ctx).Begin()
		if err := tx.Exec("UPDATE t SET x = 1").Error; err != nil {
			t.Fatal(err)
		}
		cancel()
		eventually(t, "the transaction is rolled back", func() bool {
			return slices.Equal(kinds(s), []tdsKind{tdsBegin, tdsBatch, tdsRollback})
		})
		if requests := s.Requests(); !requests[1].InTransaction {
			t.Error("the statement was outside of its transaction")
		}
	})

	t.Run("completes before the connection is reused", func(t *testing.T) {
		s := start(t, tdsOptions{Respond: empty, Transaction: func(k tdsKind) {
			if k == tdsRollback {
				<-time.After(50 * time.Millisecond)
			}
		}})
		db, _ := open(t, s, xdb.Options{MaxOpenConns: 1})
		for range 3 {
			s.Reset()
			ctx, cancel := context.WithCancel(t.Context())
			tx := db.WithContext(ctx).Begin()
			if err := tx.Exec("UPDATE a SET x = 1").Error; err != nil {
				t.Fatal(err)
			}
			cancel()
			if err := db.Exec("UPDATE b SET x = 1").Error; err != nil {
				t.Error(err)
			}
			all := s.Requests()
			if first, last := all[1], all[len(all)-1]; first.Transaction == 0 ||
				last.Transaction != 0 || last.InTransaction {
				t.Errorf("requests = %+v, want the last one outside of the transaction", all)
			}
		}
		if n := len(s.Logins()); n > 0 {
			t.Errorf("new connections = %d, want the connection reused", n)
		}
	})

	t.Run("without a response closes the connection", func(t *testing.T) {
		hang := make(chan struct{})
		s := start(t, tdsOptions{Respond: empty, Transaction: func(k tdsKind) {
			if k == tdsRollback {
				<-hang
			}
		}})
		defer close(hang)
		db, _ := open(t, s, xdb.Options{MaxOpenConns: 1})
		startTime := time.Now()
		err := db.Begin().Rollback().Error
		if xerror.From(err).GetErrorCode() != xerror.ServiceUnavailable {
			t.Errorf("Rollback = %v, want %v", err, xerror.ServiceUnavailable)
		}
		if elapsed := time.Since(startTime); elapsed > 20*time.Second {
			t.Errorf("Rollback took %s", elapsed)
		}
		if err := db.Exec("UPDATE b SET x = 1").Error; err != nil || len(s.Logins()) != 2 {
			t.Errorf("Exec = %v, logins %d; want a new connection", err, len(s.Logins()))
		}
	})
}

func TestTx_Commit(t *testing.T) {
	t.Run("fails after the server rolled back", func(t *testing.T) {
		deadlock := tdsFail(1205, "deadlock")
		deadlock.Rollback = true
		s := startDouble(t, when("UPDATE b", deadlock))
		db, _ := open(t, s, xdb.Options{})
		s.Reset()
		err := db.Transaction(func(tx *gorm.DB) error {
			_ = tx.Exec("UPDATE b SET x = 1").Error // the application ignores the error
			return tx.Exec("UPDATE a SET x = 1").Error
		})
		if err == nil {
			t.Error("the transaction was committed")
		}
		for _, r := range s.Requests() {
			if strings.Contains(r.SQL, "UPDATE a") || r.Kind == tdsCommit {
				t.Errorf("%s %s was sent after the transaction ended", r.Kind, r.SQL)
			}
		}
	})
}

func TestCreate_Atomicity(t *testing.T) {
	var inserts atomic.Int32
	s := startDouble(t, func(r tdsRequest) (tdsReply, bool) {
		second := strings.HasPrefix(r.SQL, "INSERT") && inserts.Add(1) == 2
		return tdsFail(2627, "Violation of UNIQUE KEY constraint 'u'."), second
	})
	db, _ := open(t, s, xdb.Options{})
	s.Reset()
	result := db.Create(named(700))
	if err := result.Error; err == nil ||
		err.Error() != "unique constraint violated: error 2627: u" || result.RowsAffected != 0 {
		t.Errorf("Create = %v, %d rows", err, result.RowsAffected)
	}
	want := []tdsKind{tdsBegin, tdsRPC, tdsRPC, tdsRollback}
	if got := kinds(s); !slices.Equal(got, want) {
		t.Errorf("requests = %v, want %v", got, want)
	}
}

func TestConn_BrokenNetwork(t *testing.T) {
	for name, reply := range map[string]tdsReply{
		"before the response": {Cut: true},
		"within the response": {Broken: true},
	} {
		for _, text := range []string{"UPDATE", "SELECT"} {
			t.Run(name+" to "+text, func(t *testing.T) {
				s := startDouble(t, when(text+" broken", reply))
				db, _ := open(t, s, xdb.Options{})
				var n int64
				err := db.Raw(text + " broken").Scan(&n).Error
				if code := xerror.From(err).GetErrorCode(); code != xerror.ServiceUnavailable {
					t.Errorf("code = %v, want %v (%T: %v)",
						code, xerror.ServiceUnavailable, err, err)
				}
				if err := db.Exec("UPDATE t SET x = 1").Error; err != nil {
					t.Errorf("the next statement = %v", err)
				}
			})
		}
	}
}

func TestConn_Outage(t *testing.T) {
	s := startDouble(t, when("WAITFOR", tdsReply{Hang: true}))
	db, _ := open(t, s, xdb.Options{})
	running := make(chan error, 1)
	go func() { running <- db.Exec(slow).Error }()
	eventually(t, "the statement runs", func() bool {
		return slices.ContainsFunc(s.Requests(), func(r tdsRequest) bool { return r.SQL == slow })
	})
	tx := db.Begin()
	if err := tx.Error; err != nil {
		t.Fatal(err)
	}
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	for what, err := range map[string]error{
		"the running statement":     <-running,
		"a transaction's statement": tx.Exec("UPDATE t SET x = 1").Error,
		"a transaction's commit":    tx.Commit().Error,
		"a new statement":           db.Exec("UPDATE t SET x = 1").Error,
		"a new transaction":         db.Transaction(func(*gorm.DB) error { return nil }),
		"the health":                xdb.CheckHealth(t.Context(), db),
	} {
		if code := xerror.From(err).GetErrorCode(); code != xerror.ServiceUnavailable {
			t.Errorf("%s: code = %v, want %v (%T: %v)",
				what, code, xerror.ServiceUnavailable, err, err)
		}
	}
	if err := s.Restart(); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		if err := db.Create(&note{Text: "x"}).Error; err != nil {
			t.Errorf("Create = %v after the server restarted", err)
		}
	}
}

func TestTx_Isolation(t *testing.T) {
	// A session retains the isolation level of its last transaction, even after the pool
	// resets the session.
	t.Run("is reset after the transaction", func(t *testing.T) {
		const reset = "SET TRANSACTION ISOLATION LEVEL READ COMMITTED"
		boom := errors.New("boom")
		deadlock := tdsFail(1205, "deadlock")
		deadlock.Rollback = true
		s := startDouble(t, when("UPDATE victim", deadlock))
		for _, tc := range []struct {
			name string
			o    *sql.TxOptions
			text string
			err  error // result of the transaction's function
			want []string
		}{
			{"no options", nil, "UPDATE t", nil, []string{"begin 2", "UPDATE t", "commit 0"}},
			{
				"default level", &sql.TxOptions{},
				"UPDATE t", nil,
				[]string{"begin 2", "UPDATE t", "commit 0"},
			},
			{
				"read committed", &sql.TxOptions{Isolation: sql.LevelReadCommitted},
				"UPDATE t", boom,
				[]string{"begin 2", "UPDATE t", "rollback 0"},
			},
			{
				"serializable", &sql.TxOptions{Isolation: sql.LevelSerializable},
				"UPDATE t", nil,
				[]string{"begin 4", "UPDATE t", "commit 0", reset},
			},
			{
				"snapshot, rolled back", &sql.TxOptions{Isolation: sql.LevelSnapshot},
				"UPDATE t", boom,
				[]string{"begin 5", "UPDATE t", "rollback 0", reset},
			},
			{
				"repeatable read, rolled back by the server",
				&sql.TxOptions{Isolation: sql.LevelRepeatableRead},
				"UPDATE victim", boom,
				[]string{"begin 3", "UPDATE victim", reset},
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				db, _ := open(t, s, xdb.Options{MaxOpenConns: 1})
				s.Reset()
				err := db.Transaction(func(tx *gorm.DB) error {
					_ = tx.Exec(tc.text)
					return tc.err
				}, tc.o)
				if !errors.Is(err, tc.err) {
					t.Errorf("Transaction = %v, want %v", err, tc.err)
				}
				if err := db.Exec("SELECT 1").Error; err != nil || len(s.Logins()) > 0 {
					t.Errorf("next statement = %v, logins = %d; want nil and 0",
						err, len(s.Logins()))
				}
				var got []string
				for _, r := range s.Requests() {
					if r.SQL == "" {
						r.SQL = fmt.Sprint(r.Kind, " ", r.Level)
					}
					got = append(got, r.SQL)
				}
				if want := append(tc.want, "SELECT 1"); !slices.Equal(got, want) {
					t.Errorf("requests = %q, want %q", got, want)
				}
			})
		}
	})

	t.Run("closes the connection if the reset fails", func(t *testing.T) {
		for name, reply := range map[string]tdsReply{
			"rejected": tdsFail(50000, "no"),
			"silent":   {Silent: true},
		} {
			t.Run(name, func(t *testing.T) {
				s := startDouble(t, when("SET TRANSACTION", reply))
				db, _ := open(t, s, xdb.Options{MaxOpenConns: 1})
				s.Reset()
				startTime := time.Now()
				err := db.Transaction(func(*gorm.DB) error { return nil },
					&sql.TxOptions{Isolation: sql.LevelSerializable})
				if elapsed := time.Since(startTime); err != nil || elapsed > 20*time.Second {
					t.Errorf("Transaction = %v after %s, want nil", err, elapsed)
				}
				if err := db.Exec("UPDATE b SET x = 1").Error; err != nil || len(s.Logins()) != 1 {
					t.Errorf("Exec = %v, logins %d; want a new connection", err, len(s.Logins()))
				}
			})
		}
	})
}

func TestConn_BeginTx(t *testing.T) {
	t.Run("rejects a read-only transaction", func(t *testing.T) {
		s := startDouble(t, nil)
		db, _ := open(t, s, xdb.Options{})
		s.Reset()
		err := db.Transaction(func(*gorm.DB) error { return nil }, &sql.TxOptions{ReadOnly: true})
		if err == nil || len(s.Requests()) > 0 {
			t.Errorf("Transaction = %v, requests %v; want an error and no request",
				err, s.Requests())
		}
	})
}
