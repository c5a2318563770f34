package dbtest

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
	"github.com/plinthgo/plinth/core/major/xmodels"
)

// The entities of the suite.
type (
	author struct {
		xmodels.BaseEntity
		Name  string  `gorm:"size:64;not null;uniqueIndex"`
		Email *string `gorm:"size:64"`
		Age   int     `gorm:"not null;check:age >= 0"`
		Books []book  `gorm:"foreignKey:AuthorID;constraint:OnDelete:RESTRICT"`
	}

	book struct {
		xmodels.BaseEntity
		Title    string                 `gorm:"size:100;not null"`
		AuthorID xsnowflake.SnowflakeID `gorm:"type:int;not null;index"`
	}

	note struct {
		xmodels.BaseEntityWithSoftDelete
		Text string `gorm:"size:200"`
	}

	account struct {
		xmodels.BaseEntity
		Balance int64 `gorm:"not null"`
		Version xmodels.Version
	}

	event struct {
		xmodels.BaseEntity
		Kind string    `gorm:"size:20;not null;index"`
		At   time.Time `gorm:"not null"`
		Body *string   `gorm:"size:2097152"` // a large text type on some databases
	}
)

// GetGene implements xsnowflake.GeneProvider.
func (author) GetGene() xsnowflake.Gene { return xsnowflake.GeneUser }

// GetGene implements xsnowflake.GeneProvider.
func (book) GetGene() xsnowflake.Gene { return xsnowflake.GeneFile }

// entities returns all entities, referenced tables first.
func entities() []any { return []any{&author{}, &book{}, &note{}, &account{}, &event{}} }

// suite is the environment of one check.
type suite struct {
	Harness

	ctx      context.Context // with the logger and the ID node of the check
	log      *lines
	registry *xdb.Registry
	prefix   string
}

// prefixes makes the table prefix of every check unique in the process.
var prefixes atomic.Int64

func newSuite(tb testing.TB, h Harness) *suite {
	s := &suite{Harness: h, log: &lines{}, registry: &xdb.Registry{}}
	s.prefix = fmt.Sprintf("t%d_%d_", time.Now().UnixMilli()%1e6, prefixes.Add(1))
	s.registry.Register(h.Driver)

	engine, err := xlog.New(xlog.Config{
		Level: slog.LevelDebug, Format: xlog.FormatJSON, Writer: s.log,
	})
	check(tb, err, "log")
	node, err := xsnowflake.NewNode()
	check(tb, err, "id node")
	tb.Cleanup(func() {
		check(tb, node.Close(), "close the id node")
		check(tb, engine.Close(), "close the log")
	})
	s.ctx = context.WithValue(xlog.NewContext(tb.Context(), engine), xctx.SnowflakeNodeKey, node)
	return s
}

// open opens a database with tables for some entities. Fewer tables make a check faster.
func (s *suite) open(tb testing.TB, tables ...any) *gorm.DB {
	return s.openWith(tb, s.options(tb, tables...))
}

func (s *suite) options(tb testing.TB, tables ...any) xdb.Options {
	return xdb.Options{
		Driver:         s.Driver.Name(),
		Parts:          s.Config(tb),
		TablePrefix:    s.prefix,
		AutoMigrate:    tables,
		ConnectTimeout: 10 * time.Second,
	}
}

// openWith opens a database. At the end of the check it drops the tables and closes it.
func (s *suite) openWith(tb testing.TB, o xdb.Options) *gorm.DB {
	db, err := s.registry.Open(s.ctx, o)
	if err != nil {
		tb.Fatalf("open: %v", err)
	}
	tables := o.AutoMigrate
	tb.Cleanup(func() {
		uncanceled := db.WithContext(context.WithoutCancel(s.ctx))
		if err := uncanceled.Migrator().DropTable(tables...); err != nil {
			tb.Errorf("drop the tables: %v", err)
		}
		check(tb, xdb.Close(db), "close")
		s.noSecret(tb, o.Parts)
	})
	return db.WithContext(s.ctx)
}

func (s *suite) noSecret(tb testing.TB, parts driver.Config) {
	if parts.Pass != "" && strings.Contains(s.log.String(), parts.Pass) {
		tb.Errorf("the log contains the password")
	}
}

// check fails the test if err is not nil.
func check(tb testing.TB, err error, what string) {
	if err != nil {
		tb.Fatalf("%s: %v", what, err)
	}
}

func count(tb testing.TB, db *gorm.DB, entity any) int64 {
	var n int64
	check(tb, db.Model(entity).Count(&n).Error, "count")
	return n
}

func codeOf(err error) *xerror.ErrorCode { return xerror.From(err).GetErrorCode() }

// lines collects log lines.
type lines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Write implements io.Writer.
func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

// String returns the collected log.
func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// Reset discards the collected log.
func (l *lines) Reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.buf.Reset()
}

func (l *lines) count(substrings ...string) int {
	n := 0
	for line := range strings.Lines(l.String()) {
		if containsAll(line, substrings) {
			n++
		}
	}
	return n
}

func containsAll(s string, substrings []string) bool {
	for _, t := range substrings {
		if !strings.Contains(s, t) {
			return false
		}
	}
	return true
}
