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
	ways := map[string]func(db *gorm.DB) error{
		"Raw":  func(db *gorm.DB) error { return db.Raw(slow).Scan(&n).Error },
		"Exec": func(db *gorm.DB) error { return db.Exec(slow).Error },
		"Find": func(db *gorm.DB) error {
			return db.Where("text = 'WAITFOR' AND id = ?", 1).Find(&[]note{}).Error
		},
		"Transaction": func(db *gorm.DB) error {
			return db.Transaction(func(tx *gorm.DB) error { return tx.Raw(slow).Scan(&n).Error })
		},
	}
	s := answering(t, when("WAITFOR", tdsReply{Hang: true}))
	db, _ := open(t, s, xdb.Options{MaxOpenConns: 1})
	for name, run := range ways {
		for _, want := range []error{context.Canceled, context.DeadlineExceeded} {
			s.Reset()
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			if errors.Is(want, context.Canceled) {
				ctx, cancel = context.WithCancel(t.Context())
				time.AfterFunc(100*time.Millisecond, cancel)
			}
			begin := time.Now()
			err := run(db.WithContext(ctx))
			if took := time.Since(begin); !errors.Is(err, want) || took > 10*time.Second {
				t.Errorf("%s = %v after %s, want %v", name, err, took, want)
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
	var silent atomic.Pointer[any] // true: every statement; a kind: requests of that kind
	s := start(t, tdsOptions{
		Answer: func(r tdsRequest) tdsReply {
			if at := silent.Load(); at != nil && *at == any(true) {
				return tdsReply{Deaf: true}
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
	for name, way := range map[string]struct {
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
		silent.Store(&way.at)
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		begin := time.Now()
		err := way.do(db.WithContext(ctx))
		if took := time.Since(begin); !errors.Is(err, context.DeadlineExceeded) ||
			took > 10*time.Second {
			t.Errorf("%s = %v after %s, want DeadlineExceeded within 10 s", name, err, took)
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
		s := answering(t, nil)
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
		s := start(t, tdsOptions{Answer: empty, Transaction: func(k tdsKind) {
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
		s := start(t, tdsOptions{Answer: empty, Transaction: func(k tdsKind) {
			if k == tdsRollback {
				<-hang
			}
		}})
		defer close(hang)
		db, _ := open(t, s, xdb.Options{MaxOpenConns: 1})
		begin := time.Now()
		if err := db.Begin().Rollback().Error; xerror.From(
			err).GetErrorCode() != xerror.ServiceUnavailable {
			t.Errorf("Rollback = %v, want %v", err, xerror.ServiceUnavailable)
		}
		if took := time.Since(begin); took > 20*time.Second {
			t.Errorf("Rollback took %s", took)
		}
		if err := db.Exec("UPDATE b SET x = 1").Error; err != nil || len(s.Logins()) != 2 {
			t.Errorf("Exec = %v, logins %d; want a new connection", err, len(s.Logins()))
		}
	})
}

func TestTx_Commit(t *testing.T) {
	t.Run("fails after the server rolled back", func(t *testing.T) {
		victim := tdsReply{Rollback: true, Errors: []tdsError{{Number: 1205, Message: "deadlock"}}}
		s := answering(t, when("UPDATE b", victim))
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
	s := answering(t, func(r tdsRequest) (tdsReply, bool) {
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
		"before the answer": {Cut: true},
		"within the answer": {Broken: true},
	} {
		for _, text := range []string{"UPDATE", "SELECT"} {
			t.Run(name+" to "+text, func(t *testing.T) {
				s := answering(t, when(text+" broken", reply))
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
	s := answering(t, when("WAITFOR", tdsReply{Hang: true}))
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
		"the statement that was running": <-running,
		"a transaction's statement":      tx.Exec("UPDATE t SET x = 1").Error,
		"a transaction's commit":         tx.Commit().Error,
		"a new statement":                db.Exec("UPDATE t SET x = 1").Error,
		"a new transaction":              db.Transaction(func(*gorm.DB) error { return nil }),
		"the health":                     xdb.CheckHealth(t.Context(), db),
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
		if err := db.Create(&note{Text: "again"}).Error; err != nil {
			t.Errorf("Create = %v after the server restarted", err)
		}
	}
}

func TestTx_Isolation(t *testing.T) {
	// The server keeps the isolation level of a transaction for the session, even when
	// the pool resets the session.
	t.Run("is reset after the transaction", func(t *testing.T) {
		const again = "SET TRANSACTION ISOLATION LEVEL READ COMMITTED"
		boom := errors.New("boom")
		victim := tdsReply{Rollback: true, Errors: []tdsError{{Number: 1205, Message: "deadlock"}}}
		s := answering(t, when("UPDATE victim", victim))
		for _, tc := range []struct {
			name string
			o    *sql.TxOptions
			text string
			back error
			want []string
		}{
			{"none", nil, "UPDATE t", nil, []string{"begin 2", "UPDATE t", "commit 0"}},
			{
				"the default", &sql.TxOptions{}, "UPDATE t",
				nil,
				[]string{"begin 2", "UPDATE t", "commit 0"},
			},
			{
				"the usual one", &sql.TxOptions{Isolation: sql.LevelReadCommitted}, "UPDATE t",
				boom,
				[]string{"begin 2", "UPDATE t", "rollback 0"},
			},
			{
				"another", &sql.TxOptions{Isolation: sql.LevelSerializable}, "UPDATE t",
				nil,
				[]string{"begin 4", "UPDATE t", "commit 0", again},
			},
			{
				"another that is rolled back",
				&sql.TxOptions{Isolation: sql.LevelSnapshot}, "UPDATE t",
				boom,
				[]string{"begin 5", "UPDATE t", "rollback 0", again},
			},
			{
				"another that the server has ended",
				&sql.TxOptions{Isolation: sql.LevelRepeatableRead},
				"UPDATE victim", boom,
				[]string{"begin 3", "UPDATE victim", again},
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				db, _ := open(t, s, xdb.Options{MaxOpenConns: 1})
				s.Reset()
				err := db.Transaction(func(tx *gorm.DB) error {
					_ = tx.Exec(tc.text)
					return tc.back
				}, tc.o)
				if !errors.Is(err, tc.back) {
					t.Errorf("Transaction = %v, want %v", err, tc.back)
				}
				if err := db.Exec("SELECT 1").Error; err != nil || len(s.Logins()) > 0 {
					t.Errorf("next statement = %v, logins = %d",
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
			"refused": tdsFail(50000, "no"),
			"silent":  {Deaf: true},
		} {
			t.Run(name, func(t *testing.T) {
				s := answering(t, when("SET TRANSACTION", reply))
				db, _ := open(t, s, xdb.Options{MaxOpenConns: 1})
				s.Reset()
				begin := time.Now()
				err := db.Transaction(func(*gorm.DB) error { return nil },
					&sql.TxOptions{Isolation: sql.LevelSerializable})
				if took := time.Since(begin); err != nil || took > 20*time.Second {
					t.Errorf("Transaction = %v after %s, want nil", err, took)
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
		s := answering(t, nil)
		db, _ := open(t, s, xdb.Options{})
		s.Reset()
		err := db.Transaction(func(*gorm.DB) error { return nil }, &sql.TxOptions{ReadOnly: true})
		if err == nil || len(s.Requests()) > 0 {
			t.Errorf("Transaction = %v, requests %v; want an error and no request",
				err, s.Requests())
		}
	})
}
