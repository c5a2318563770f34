package sqlserver_test

import (
	"context"
	"crypto/tls"
	"database/sql"
	"errors"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
	"github.com/plinthgo/plinth/dbplugins/sqlserver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const password = "hunter2;secret"

// start starts a double that stops after the test.
func start(tb testing.TB, o tdsOptions) *tdsServer {
	tb.Helper()
	s, err := tdsStart(o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Stop(); err != nil {
			tb.Error(err)
		}
	})
	return s
}

// startDouble starts a double that responds with the result of respond. If respond is nil
// or returns false, the double responds like an empty database.
func startDouble(tb testing.TB, respond func(tdsRequest) (tdsReply, bool)) *tdsServer {
	tb.Helper()
	return start(tb, tdsOptions{Respond: func(r tdsRequest) tdsReply {
		if respond != nil {
			if reply, ok := respond(r); ok {
				return reply
			}
		}
		return empty(r)
	}})
}

// when returns a respond function that replies to statements that contain text.
func when(text string, reply tdsReply) func(tdsRequest) (tdsReply, bool) {
	return func(r tdsRequest) (tdsReply, bool) { return reply, strings.Contains(r.SQL, text) }
}

// empty returns the reply of a database without tables.
func empty(r tdsRequest) tdsReply {
	one := func(c tdsColumn, value any) tdsReply {
		return tdsReply{Columns: []tdsColumn{c}, Rows: [][]any{{value}}}
	}
	switch sql := strings.ToLower(r.SQL); {
	case strings.Contains(sql, "db_name()"):
		return one(tdsNVarChar("name"), "app")
	case strings.Contains(sql, "sp_getapplock"), strings.HasPrefix(sql, "select count(*)"):
		return one(tdsBigInt(""), int64(0))
	case strings.HasPrefix(sql, "select @@options"):
		return one(tdsBigInt(""), int64(1))
	default:
		return tdsReply{Affected: 1}
	}
}

// partsOf returns the configuration for a double.
func partsOf(s *tdsServer) driver.Config {
	return driver.Config{
		Host: "127.0.0.1", Port: s.Port(), User: "app", Pass: password, Name: "app",
	}
}

// open opens a database on a double, with an ID node and a logger. It returns the log.
func open(tb testing.TB, s *tdsServer, o xdb.Options) (db *gorm.DB, log *lines) {
	tb.Helper()
	ctx, log := background(tb)
	if o.Parts == (driver.Config{}) {
		o.Parts = partsOf(s)
	}
	o.Driver = sqlserver.Name
	db, err := xdb.Open(ctx, o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := xdb.Close(db); err != nil {
			tb.Error(err)
		}
	})
	return db.WithContext(ctx), log
}

// background returns a context with an ID node and a logger.
func background(tb testing.TB) (context.Context, *lines) {
	tb.Helper()
	log := &lines{}
	node, nodeErr := xsnowflake.NewNode()
	engine, logErr := xlog.New(xlog.Config{
		Level: slog.LevelDebug, Format: xlog.FormatJSON, Writer: log,
	})
	if err := errors.Join(nodeErr, logErr); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _, _ = node.Close(), engine.Close() })
	return context.WithValue(xlog.NewContext(tb.Context(), engine), xctx.SnowflakeNodeKey, node),
		log
}

// lines collects log lines.
type lines struct {
	mu  sync.Mutex
	buf strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// eventually waits up to 5 s for a condition.
func eventually(tb testing.TB, condition string, isMet func() bool) {
	tb.Helper()
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for deadline := time.Now().Add(5 * time.Second); !isMet(); <-ticker.C {
		if time.Now().After(deadline) {
			tb.Fatalf("%s: not within 5 s", condition)
		}
	}
}

// kinds returns the kinds of the requests of a double.
func kinds(s *tdsServer) (all []tdsKind) {
	for _, r := range s.Requests() {
		all = append(all, r.Kind)
	}
	return all
}

// requests returns the requests of a double. It omits attention requests: the library
// cancels the rest of a single-row response that has not arrived yet.
func requests(s *tdsServer) []tdsRequest {
	return slices.DeleteFunc(s.Requests(),
		func(r tdsRequest) bool { return r.Kind == tdsAttention })
}

// pool returns the pool of a database.
func pool(tb testing.TB, db *gorm.DB) *sql.DB {
	tb.Helper()
	p, err := db.DB()
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// withTLS returns options for a double with a certificate for 127.0.0.1.
func withTLS(c tls.Certificate) tdsOptions {
	return tdsOptions{TLS: &tls.Config{
		Certificates: []tls.Certificate{c},
		MinVersion:   tls.VersionTLS12, MaxVersion: tls.VersionTLS12, // as SQL Server with TDS 7.4
	}}
}

// portOf returns the port of a double.
func portOf(s *tdsServer) string { return strconv.Itoa(s.Port()) }
