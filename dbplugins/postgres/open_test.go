package postgres_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
	"github.com/plinthgo/plinth/dbplugins/postgres"
)

// buffer is a log that is safe for concurrent use.
type buffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Write implements io.Writer.
func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

// String returns the log.
func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// openLogged opens a database with its own log.
func openLogged(tb testing.TB, o xdb.Options) (*gorm.DB, *buffer, error) {
	tb.Helper()
	log := &buffer{}
	engine, err := xlog.New(xlog.Config{
		Level: slog.LevelDebug, Format: xlog.FormatJSON, Writer: log,
	})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = engine.Close() })
	o.Driver = postgres.Name
	db, err := xdb.Open(xlog.NewContext(tb.Context(), engine), o)
	if err == nil {
		db = db.WithContext(xlog.NewContext(tb.Context(), engine))
	}
	return db, log, err
}

// open opens a database and closes it after the test.
func open(tb testing.TB, o xdb.Options) *gorm.DB {
	tb.Helper()
	db, _, err := openLogged(tb, o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := xdb.Close(db); err != nil {
			tb.Error(err)
		}
	})
	return db
}

// eventually waits up to a second for a condition.
func eventually(tb testing.TB, condition string, isMet func() bool) {
	tb.Helper()
	timeout := time.NewTimer(time.Second)
	defer timeout.Stop()
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for !isMet() {
		select {
		case <-ticker.C:
		case <-timeout.C:
			tb.Errorf("not within 1 s: %s", condition)
			return
		}
	}
}

func TestOpen_TimeZone(t *testing.T) {
	_, config := find(t)
	for _, tc := range []struct{ name, zone, want string }{
		{name: "default", zone: "", want: "UTC"},
		{name: "configured", zone: "Asia/Shanghai", want: "Asia/Shanghai"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			config.Source = xenv.Map{"DATABASE_TIMEZONE": tc.zone}
			var got string
			db := open(t, xdb.Options{Parts: config})
			if err := db.Raw("SHOW timezone").Scan(&got).Error; err != nil || got != tc.want {
				t.Errorf("zone = %q (%v), want %q", got, err, tc.want)
			}
		})
	}
}

func TestOpen_Times(t *testing.T) {
	t.Run("are in UTC", func(t *testing.T) {
		_, config := find(t)
		config.Source = xenv.Map{"DATABASE_TIMEZONE": "Asia/Shanghai"}
		before := time.Local
		time.Local = time.FixedZone("local", -3*3600)
		t.Cleanup(func() { time.Local = before })
		db := open(t, xdb.Options{Parts: config})
		at := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
		for _, query := range []string{
			"SELECT ?::timestamptz",
			"SELECT (?::timestamptz AT TIME ZONE 'UTC')::timestamp",
		} {
			var got time.Time
			if err := db.Raw(query, at.In(time.Local)).Row().Scan(&got); err != nil || got != at {
				t.Errorf("%s = %v (%v), want %v", query, got, err, at)
			}
		}
	})
}

func TestOpen_Encoding(t *testing.T) {
	server, _ := find(t)
	config := newDatabase(t, server, "",
		"ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0")
	db := open(t, xdb.Options{Parts: config})
	var got string
	row := db.Raw("SELECT ?::text WHERE length(?) = 5", "größe", "größe").Row()
	if err := row.Scan(&got); err != nil || got != "größe" {
		t.Errorf("text = %q (%v), want größe", got, err)
	}
	if err := db.Exec("SELECT ?::text", "数据库").Error; driver.KindOf(err) != driver.Malformed {
		t.Errorf("a string outside of LATIN1: error = %v, want kind Malformed", err)
	}
}

func TestOpen_SpecialNames(t *testing.T) {
	server, _ := find(t)
	for _, text := range []string{"/", "//a", "../x", "é\t\n", "UPPER lower"} {
		c := newDatabase(t, server, text, "")
		if err := verify(c)(open(t, xdb.Options{Parts: c})); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestOpen_Authentication(t *testing.T) {
	t.Run("rejects an empty password", func(t *testing.T) {
		_, config := find(t)
		t.Setenv("PGPASSWORD", config.Pass)
		config.Pass = ""
		db, log, err := openLogged(t, xdb.Options{Parts: config})
		if err == nil {
			t.Fatal("Open used PGPASSWORD", xdb.Close(db))
		}
		if kind := (postgres.Driver{}).ErrorKind(err); kind != driver.Authentication ||
			strings.Contains(log.String(), "not reachable yet") {
			t.Errorf("kind = %q of %v, want Authentication at the first attempt", kind, err)
		}
	})

	t.Run("fails without the CONNECT privilege", func(t *testing.T) {
		server, _ := find(t)
		c := newDatabase(t, server, "", "")
		execAll(t, admin(t, server.DSN),
			"REVOKE CONNECT ON DATABASE "+quote(c.Name)+" FROM PUBLIC, "+quote(c.User))
		db, log, err := openLogged(t, xdb.Options{Parts: c})
		if err == nil {
			t.Fatal("Open: error = nil", xdb.Close(db))
		}
		if kind := (postgres.Driver{}).ErrorKind(err); kind != driver.Authentication ||
			strings.Contains(log.String(), "not reachable yet") {
			t.Errorf("kind = %q of %v, want Authentication at the first attempt", kind, err)
		}
	})
}

func TestOpen_Cancellation(t *testing.T) {
	t.Run("stops the statement on the server", func(t *testing.T) {
		server, config := find(t)
		conn := admin(t, server.DSN)
		db := open(t, xdb.Options{Parts: config})
		running := func() bool {
			return queryValue[bool](t, conn,
				"SELECT EXISTS (SELECT FROM pg_stat_activity WHERE state = 'active' AND query LIKE $1)",
				"%pg_sleep(29)%")
		}
		for name, run := range map[string]func(db *gorm.DB) error{
			"statement": func(db *gorm.DB) error { return db.Exec("SELECT pg_sleep(29)").Error },
			"transaction": func(db *gorm.DB) error {
				return db.Transaction(func(tx *gorm.DB) error {
					return tx.Exec("SELECT pg_sleep(29)").Error
				})
			},
		} {
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() { done <- run(db.WithContext(ctx)) }()
			eventually(t, name+" runs", running)
			start := time.Now()
			cancel()
			if err := <-done; err == nil || time.Since(start) > 10*time.Second {
				t.Errorf("%s: error = %v after %s, want an error within 10 s",
					name, err, time.Since(start))
			}
			eventually(t, name+" has ended on the server", func() bool { return !running() })
		}
	})
}

func TestClose(t *testing.T) {
	t.Run("stops running statements", func(t *testing.T) {
		_, config := find(t)
		before := goleak.IgnoreCurrent()
		db, _, err := openLogged(t, xdb.Options{Parts: config})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		if err := db.WithContext(ctx).Exec(slow).Error; err == nil {
			t.Error("the statement did not stop")
		}
		if err := xdb.Close(db); err != nil {
			t.Error(err)
		}
		goleak.VerifyNone(t, before)
	})
}
