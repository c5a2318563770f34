package oracle_test

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sijms/go-ora/v2/network"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
	"github.com/plinthgo/plinth/dbplugins/oracle"
)

func TestRows_Values(t *testing.T) {
	east := time.FixedZone("east", 8*3600)
	d := &double{script: []response{{
		pattern: "FROM results", columns: []string{"ID", "Author__name", "TOTAL", "PRICE", "AT"},
		types: []string{"NUMBER:0", "NCHAR", "NUMBER", "NUMBER:4", "TimeStampTZ_DTY"},
		rows: [][]sqlValue{
			{"9223372036854775807", "x", "3", "3", time.Date(2024, 1, 2, 8, 0, 0, 0, east)},
			{"18446744073709551615", nil, "2.5", "1234567890123456.7891", nil},
		},
	}}}
	db := openDouble(t, d, nil)
	var got []map[string]any
	if err := db.Raw("SELECT * FROM results").Scan(&got).Error; err != nil {
		t.Fatal(err)
	}
	first, second := got[0], got[1]
	if first["id"] != int64(math.MaxInt64) || first["Author__name"] != "x" ||
		first["total"] != int64(3) || first["price"] != "3" {
		t.Errorf("row = %v, want an exact id, lower-case names, whole numbers as int64 "+
			"and decimals as strings", first)
	}
	if at, ok := first["at"].(time.Time); !ok || at.Location() != time.UTC || at.Hour() != 0 {
		t.Errorf("time = %v, want it in UTC", first["at"])
	}
	if second["id"] != "18446744073709551615" || second["total"] != "2.5" ||
		second["price"] != "1234567890123456.7891" || second["at"] != nil {
		t.Errorf("row = %v, want all digits", second)
	}
}

func TestRows_Columns(t *testing.T) {
	d := &double{script: []response{{
		pattern: `FROM "APP_BOOKS"`, columns: []string{"ID", "TITLE", "Author__id", "Author__name"},
		types: []string{"NUMBER:0", "NCHAR", "NUMBER:0", "NCHAR"},
		rows:  [][]sqlValue{{"1", "title", "7", "name"}},
	}}}
	db := openDouble(t, d, nil)
	var got book
	if err := db.Joins("Author").Take(&got).Error; err != nil || got.Author == nil ||
		got.Author.ID != 7 || got.Author.Name != "name" || got.Title != "title" {
		t.Errorf("book = %+v (%v), want its author", got, err)
	}
}

func TestCreate_Returning(t *testing.T) {
	db := openDouble(t, &double{}, nil)
	batch := []*tag{{Level: "x"}, {ID: 5, Level: "y", Label: "mine"}}
	if err := db.Create(batch).Error; err != nil {
		t.Fatal(err)
	}
	if batch[0].ID != 4711 || batch[0].Label != "filled in" || batch[1].ID != 5 ||
		batch[1].Label != "mine" {
		t.Errorf("batch = %+v, %+v", batch[0], batch[1])
	}
	result := db.Clauses(clause.OnConflict{DoNothing: true}).Create(
		[]*author{named("a"), named("b")})
	if result.Error != nil || result.RowsAffected != 1 {
		t.Errorf("rows = %d (%v), want the row count of the block, 1",
			result.RowsAffected, result.Error)
	}
	if rows := db.Create([]*author{named("a"), named("b")}).RowsAffected; rows != 2 {
		t.Errorf("rows = %d, want 2", rows)
	}
}

func TestRows_BrokenNetwork(t *testing.T) {
	d := &double{script: []response{{
		pattern: "FROM big", columns: []string{"ID"}, types: []string{"NUMBER:0"},
		rows: [][]sqlValue{{"1"}, {"2"}}, cuts: true,
	}}}
	db := openDouble(t, d, nil)
	var ids []int64
	err := db.Raw("SELECT id FROM big").Scan(&ids).Error
	if kindOfError(err) != driver.Connection {
		t.Errorf("error = %v with rows %v, want a connection error", err, ids)
	}
}

func TestConn_Cancellation(t *testing.T) {
	for _, tc := range []struct {
		name string
		err  error
	}{
		{name: "interrupted", err: &network.OracleError{ErrCode: 1013}},
		{name: "broken", err: errors.New("attempt to write on closed connection")},
		{name: "rejected by the library", err: sqldriver.ErrBadConn},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := &double{script: []response{{
				pattern: "FROM slow", columns: []string{"ID"}, types: []string{"NUMBER:0"},
				hangs: true, err: tc.err,
			}}}
			db := openDouble(t, d, nil)
			pool, err := db.DB()
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(db.Statement.Context, 30*time.Millisecond)
			defer cancel()
			if _, err := pool.ExecContext(ctx, "SELECT id FROM slow"); !errors.Is(err,
				context.DeadlineExceeded) {
				t.Errorf("error = %v, want the context error", err)
			}
			if err := xdb.CheckHealth(db.Statement.Context, db); err != nil {
				t.Errorf("next statement = %v", err)
			}
			if d.opened < 2 || d.closed == 0 {
				t.Errorf("connections opened = %d, closed = %d; want the canceled one closed",
					d.opened, d.closed)
			}
		})
	}
}

// An idle connection may have been closed by the server. An insert would report this too
// late for a retry.
func TestConn_ResetSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &double{}
		db := openDoubleIn(quietContext(t), t, d, func(o *xdb.Options) { o.MaxOpenConns = 1 })
		pings := d.pings
		use := func() {
			t.Helper()
			ctx, cancel := context.WithCancel(db.Statement.Context)
			defer cancel()
			if err := db.WithContext(ctx).Exec("DELETE FROM app_notes").Error; err != nil {
				t.Error(err)
			}
		}
		use()
		if d.pings != pings || d.opened != 1 {
			t.Errorf("pings = %d, want %d for a recently used connection", d.pings, pings)
		}
		<-time.After(2 * time.Second)
		use()
		if d.pings != pings+1 || d.opened != 1 {
			t.Errorf("pings = %d with %d connections, want %d with 1", d.pings, d.opened, pings+1)
		}
		if d.lastPing.Done() != nil {
			t.Error("go-ora received a cancelable context")
		}
		d.pingErr = io.EOF
		<-time.After(2 * time.Second)
		use()
		if d.opened != 2 || d.closed != 1 {
			t.Errorf("connections opened = %d, closed = %d; want a new one", d.opened, d.closed)
		}
		d.pingErr = nil
	})
}

func TestConn_ExecContext(t *testing.T) {
	// go-ora only parses a query that is executed, and returns before a slow query
	// starts.
	t.Run("reads all rows of a query", func(t *testing.T) {
		for _, prepared := range []bool{false, true} {
			d := &double{script: []response{{
				pattern: "FROM big", columns: []string{"ID"}, types: []string{"NUMBER:0"},
				rows: [][]sqlValue{{"1"}, {"2"}}, cuts: true,
			}}}
			db := openDouble(t, d, nil).Session(&gorm.Session{PrepareStmt: prepared})
			if err := db.Exec("SELECT id FROM big").Error; kindOfError(err) != driver.Connection {
				t.Errorf("prepared %t: error = %v, want the error of the last row", prepared, err)
			}
		}
	})
}

func TestConn_PrepareContext(t *testing.T) {
	d := &double{}
	db := openDouble(t, d, nil).Session(&gorm.Session{PrepareStmt: true})
	for range 2 {
		if err := errors.Join(db.Create(named("a")).Error,
			db.Where("id IN ?", many[:1001]).Find(&[]author{}).Error); err != nil {
			t.Fatal(err)
		}
	}
	for _, line := range d.statements() {
		checkGrammar(t, "prepared", line)
	}
}

func TestConn_BeginTx(t *testing.T) {
	for _, tc := range []struct {
		name string
		opts sql.TxOptions
		want string
	}{
		{name: "default", want: ""},
		{name: "read committed", opts: sql.TxOptions{Isolation: sql.LevelReadCommitted}},
		{
			name: "serializable", opts: sql.TxOptions{Isolation: sql.LevelSerializable},
			want: "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE",
		},
		{name: "read-only", opts: sql.TxOptions{ReadOnly: true}, want: "SET TRANSACTION READ ONLY"},
		{
			name: "repeatable read", opts: sql.TxOptions{Isolation: sql.LevelRepeatableRead},
			want: "error: oracle: unsupported isolation level Repeatable Read",
		},
		{
			name: "both", opts: sql.TxOptions{Isolation: sql.LevelSerializable, ReadOnly: true},
			want: "error: oracle: a read-only transaction cannot have an isolation level",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := &double{}
			db := openDouble(t, d, nil)
			d.statements()
			tx := db.Begin(&tc.opts)
			got := strings.Join(slices.DeleteFunc(d.statements(),
				func(s string) bool { return s == "<begin>" }), "\n")
			if tx.Error != nil {
				got = "error: " + tx.Error.Error()
			} else if err := tx.Rollback().Error; err != nil {
				t.Errorf("roll back: %v", err)
			}
			if tc.want == "" && got != "" || !strings.HasPrefix(got, tc.want) {
				t.Errorf("first statement = %q, want %q", got, tc.want)
			}
		})
	}
}

const lockQuery = "SELECT id FROM plinth_migration_lock FOR UPDATE NOWAIT"

func TestConnector_Session(t *testing.T) {
	d := &double{}
	openDouble(t, d, nil)
	want := []string{"ALTER SESSION SET TIME_ZONE = '+00:00' DDL_LOCK_TIMEOUT = 30"}
	if !slices.Equal(d.session, want) {
		t.Errorf("first statements of the session = %q, want %q", d.session, want)
	}
}

// upperCaseColumn has a column whose name would be in lower case in results.
type upperCaseColumn struct {
	ID int64 `gorm:"column:ID"`
}

func TestDialector_Unsupported(t *testing.T) {
	db := openDouble(t, &double{}, nil)
	for _, tc := range []struct {
		name string
		err  error
		want string
	}{
		{
			name: "shared lock",
			err:  db.Clauses(clause.Locking{Strength: "SHARE"}).Find(&[]author{}).Error,
			want: "shared row locks are not supported",
		},
		{
			name: "other table",
			err: db.Clauses(clause.Locking{
				Strength: "UPDATE", Table: clause.Table{Name: "x"},
			}).Find(&[]author{}).Error,
			want: `cannot lock only the rows of "x"`,
		},
		{
			name: "constraint",
			err: db.Clauses(clause.OnConflict{
				OnConstraint: "x", DoNothing: true,
			}).Create(named("a")).Error,
			want: "OnConstraint is not supported",
		},
		{
			name: "returning",
			err: db.Model(&author{}).Clauses(clause.Returning{}).Where("id = 1").Update(
				"age", 2).Error,
			want: "clause.Returning is not supported",
		},
		{
			name: "column in upper case",
			err:  db.AutoMigrate(&upperCaseColumn{}),
			want: "set column:ID in lower case",
		},
		{name: "savepoint", err: db.Transaction(func(tx *gorm.DB) error {
			return tx.SavePoint("a; DROP").Error
		}), want: "invalid savepoint name"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if tc.err == nil || !strings.Contains(tc.err.Error(), tc.want) {
				t.Errorf("error = %v, want %q", tc.err, tc.want)
			}
		})
	}
}

func TestConn_CheckNamedValue(t *testing.T) {
	type colour string
	late := time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, tc := range []struct {
		name string
		v    any
		want string
	}{
		{name: "nil", v: nil, want: "NULL"},
		{name: "nil pointer", v: (*string)(nil), want: "NULL"},
		{name: "bool", v: true, want: "NUMBER"},
		{name: "largest uint64", v: uint64(math.MaxUint64), want: "NUMBER"},
		{name: "id", v: xsnowflake.SnowflakeID(math.MaxInt64), want: "NUMBER"},
		{name: "float", v: 1e100, want: "NUMBER"},
		{name: "named string type", v: colour("red"), want: "VARCHAR2"},
		{name: "longest VARCHAR2", v: strings.Repeat("x", 4000), want: "VARCHAR2"},
		{name: "longer string", v: strings.Repeat("x", 4001), want: "CLOB"},
		{name: "bytes", v: make([]byte, 2000), want: "RAW"},
		{name: "longer bytes", v: make([]byte, 2001), want: "BLOB"},
		{name: "nil bytes", v: []byte(nil), want: "NULL"},
		{
			name: "time in another time zone",
			v:    time.Now().In(time.FixedZone("east", 3600)), want: "TIMESTAMP",
		},
		{name: "null time", v: sql.NullTime{}, want: "NULL"},
		{name: "deleted at", v: gorm.DeletedAt{Time: time.Now(), Valid: true}, want: "TIMESTAMP"},
		{name: "output parameter", v: sql.Out{Dest: new(int64)}, want: "OUT"},
		{name: "invalid UTF-8", v: "a\xffb", want: "value not valid for its column"},
		{name: "late time", v: late, want: "value out of range"},
		{name: "NaN", v: math.NaN(), want: "value out of range"},
		{name: "huge number", v: math.MaxFloat64, want: "value out of range"},
		{name: "tiny number", v: math.SmallestNonzeroFloat64, want: "value out of range"},
		{name: "list", v: []int{1}, want: "unsupported type []int, a slice of int"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			v, err := oracle.Bind(tc.v)
			got := kindOf(v)
			if err != nil {
				got = err.Error()
			}
			if got != tc.want {
				t.Errorf("bind = %s, want %s", got, tc.want)
			}
		})
	}
}
