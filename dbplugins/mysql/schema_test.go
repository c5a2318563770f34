package mysql_test

import (
	"context"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/conformance/dbtest"
	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/dbplugins/mysql"
)

// odd has each kind of column that a comparison of text would report as changed.
type odd struct {
	ID       int64   `gorm:"primaryKey;autoIncrement"`
	Yes      bool    `gorm:"default:true"`
	Five     int     `gorm:"default:5"`
	Unsigned uint64  `gorm:"default:7"`
	Single   float32 `gorm:"default:1.5"`
	Real     float64 `gorm:"type:real;default:0.5"`
	Money    string  `gorm:"type:decimal(20,4);not null;default:0"`
	Numeric  string  `gorm:"type:numeric(12,3);default:1.5"`
	Whole    string  `gorm:"type:numeric"`
	Dec      string  `gorm:"type:dec(8,2)"`
	Eight    string  `gorm:"type:DECIMAL(8);default:3"`
	Positive string  `gorm:"type:Fixed( 9, 3 ) unsigned;not null"`
	Rounded  float64 `gorm:"precision:10;scale:2"`
	Text     string  `gorm:"size:40;default:'a b'"`
	NoText   string  `gorm:"size:40;default:"`
	Quote    string  `gorm:"size:40;default:it's"`
	Quotes   string  `gorm:"size:40;default:a''b'c"`
	Long     string
	Unique   string     `gorm:"uniqueIndex"`
	Indexed  string     `gorm:"index"`
	Now      time.Time  `gorm:"default:NOW(6)"`
	Seconds  time.Time  `gorm:"precision:0;default:now()"`
	Stamp    time.Time  `gorm:"default:CURRENT_TIMESTAMP(6)"`
	Day      *time.Time `gorm:"type:date"`
	JSON     string     `gorm:"type:json"`
	Blob     []byte
	Short    []byte `gorm:"size:16"`
	Choice   string `gorm:"type:enum('a','b');default:'a'"`
	Comment  string `gorm:"size:20;comment:it's a 'comment'"`
}

// unrounded has default times without the digits of their columns. MySQL rejects them;
// MariaDB adds the digits.
type unrounded struct {
	ID     int64     `gorm:"primaryKey;autoIncrement"`
	Plain  time.Time `gorm:"default:CURRENT_TIMESTAMP"`
	Millis time.Time `gorm:"precision:3;default:now()"`
	Typed  time.Time `gorm:"type:datetime(3);default:current_timestamp()"`
	Finer  time.Time `gorm:"type:datetime;default:NOW(6)"`
	Rough  time.Time `gorm:"default:CURRENT_TIMESTAMP(3)"`
	None   time.Time `gorm:"default:NOW(0)"`
}

// lines collects log lines.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

// Write implements io.Writer.
func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// count returns the number of occurrences of text in the log.
func (l *lines) count(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), text)
}

// logContext returns a context whose logger writes to w.
func logContext(tb testing.TB, w io.Writer) context.Context {
	tb.Helper()
	engine, err := xlog.New(xlog.Config{Level: slog.LevelDebug, Format: xlog.FormatJSON, Writer: w})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = engine.Close() })
	return xlog.NewContext(tb.Context(), engine)
}

// open opens a database with a table prefix, and drops the tables after the test.
func open(tb testing.TB, ctx context.Context, o xdb.Options) *gorm.DB {
	tb.Helper()
	o.Driver, o.TablePrefix = mysql.Name, "own_"
	db, err := xdb.Open(ctx, o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := db.Migrator().DropTable(o.AutoMigrate...); err != nil {
			tb.Error(err)
		}
		_ = xdb.Close(db)
	})
	return db.WithContext(ctx)
}

func TestMigrator_MigrateColumn(t *testing.T) {
	t.Run("does not alter unchanged columns", func(t *testing.T) {
		for _, tc := range []struct {
			name  string
			model any
			only  string // the only server that supports the model; empty for both
		}{
			{name: "both servers", model: &odd{}},
			{name: "default times of MariaDB", model: &unrounded{}, only: "MariaDB"},
		} {
			t.Run(tc.name, func(t *testing.T) {
				server := dbtest.FindServer(t, mysql.Name)
				if name := version(t, admin(t, server.DSN)); !strings.HasPrefix(name, tc.only) {
					t.Skip(name + " does not support the model")
				}
				log := &lines{}
				db := open(t, logContext(t, log),
					xdb.Options{Parts: configOf(t, server.DSN), AutoMigrate: []any{tc.model}})
				if n := log.count(`"sql":"CREATE TABLE`); n != 1 {
					t.Fatalf("the first migration created %d tables, want 1", n)
				}
				if err := db.AutoMigrate(tc.model); err != nil {
					t.Fatal(err)
				}
				if n := log.count("ALTER TABLE"); n != 0 {
					t.Errorf("the second migration ran ALTER TABLE %d times, want 0:\n%s",
						n, &log.text)
				}
			})
		}
	})

	t.Run("alters changed columns", func(t *testing.T) {
		log := &lines{}
		db := open(t, logContext(t, log),
			xdb.Options{Parts: serverConfig(t), AutoMigrate: []any{&odd{}}})
		if err := db.AutoMigrate(&grown{}); err != nil {
			t.Fatal(err)
		}
		if n := log.count("ALTER TABLE"); n != 6 {
			t.Errorf("the migration ran ALTER TABLE %d times, want 6", n)
		}
		if err := db.Exec("INSERT INTO own_odds (json, positive) VALUES ('{}', 1)").Error; err != nil {
			t.Fatal(err)
		}
		var got grown
		if err := db.First(&got).Error; err != nil {
			t.Fatal(err)
		}
		if got.Five != 6 || got.Money != "0.500000" || got.Text != "a c" || got.Quote != "its" {
			t.Errorf("row = %+v, want the new defaults", got)
		}
	})
}

// grown is a later version of odd.
type grown struct {
	ID    int64  `gorm:"primaryKey;autoIncrement"`
	Five  int    `gorm:"default:6"`
	Money string `gorm:"type:decimal(22,6);not null;default:0.5"`
	Text  string `gorm:"size:80;default:'a c'"`
	Quote string `gorm:"size:40;default:its"`
	Dec   string `gorm:"type:dec(9,3)"`
	Stamp string `gorm:"type:datetime(6);default:CURRENT_TIMESTAMP(6)"`
	More  string `gorm:"size:20"`
}

// TableName implements schema.Tabler.
func (grown) TableName() string { return "own_odds" }

func TestDriver_TransactionalDDL(t *testing.T) {
	if (mysql.Driver{}).TransactionalDDL() {
		t.Error("TransactionalDDL = true, want false")
	}
}
