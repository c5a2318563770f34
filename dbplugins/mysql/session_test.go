package mysql_test

import (
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/conformance/dbtest"
	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/dbplugins/mysql"
)

// value has one column of each kind.
type value struct {
	ID     int64     `gorm:"primaryKey;autoIncrement"`
	Text   string    `gorm:"size:10"`
	At     time.Time `gorm:"not null"`
	Number float32
	Bytes  []byte
	Count  uint64
}

// connections returns options with separate settings, and with a DSN without parameters.
func connections(tb testing.TB) map[string]xdb.Options {
	tb.Helper()
	dsn := dbtest.FindServer(tb, mysql.Name).DSN
	return map[string]xdb.Options{
		"parts": {Parts: configOf(tb, dsn)},
		"DSN":   {DSN: xlog.Secret(dsn)},
	}
}

func TestOpen_Session(t *testing.T) {
	t.Run("is strict and in UTC", func(t *testing.T) {
		for name, o := range connections(t) {
			t.Run(name, func(t *testing.T) {
				o.AutoMigrate = []any{&value{}}
				db := open(t, logContext(t, io.Discard), o)
				var zone, charset string
				row := db.Raw("SELECT @@time_zone, @@character_set_client").Row()
				if err := row.Scan(&zone, &charset); err != nil {
					t.Fatal(err)
				}
				if zone != "+00:00" || charset != "utf8mb4" {
					t.Errorf("time zone = %q, character set = %q; want +00:00 and utf8mb4",
						zone, charset)
				}
				err := db.Create(&value{Text: "longer than ten", At: time.Now()}).Error
				if got := xerror.From(err).GetErrorCode(); got != xerror.DataTooLarge {
					t.Errorf("code of a string that is too long = %v, want %v",
						got, xerror.DataTooLarge)
				}
				v := value{Text: "x", At: time.Now()}
				if err := db.Create(&v).Error; err != nil {
					t.Fatal(err)
				}
				if n := db.Model(&v).UpdateColumn("text", "x").RowsAffected; n != 1 {
					t.Errorf("rows affected by an update without changes = %d, want 1", n)
				}
			})
		}
	})

	t.Run("uses the parameters of the DSN", func(t *testing.T) {
		server := dbtest.FindServer(t, mysql.Name)
		parseDSN(t, server.DSN)
		dsn := server.DSN + "?sql_mode=%27ANSI_QUOTES%27&time_zone=%27%2B05:00%27"
		db := open(t, logContext(t, io.Discard), xdb.Options{DSN: xlog.Secret(dsn)})
		var mode, zone string
		if err := db.Raw("SELECT @@sql_mode, @@time_zone").Row().Scan(&mode, &zone); err != nil {
			t.Fatal(err)
		}
		if mode != "ANSI_QUOTES" || zone != "+05:00" {
			t.Errorf("sql_mode = %q, time_zone = %q; want the values of the DSN", mode, zone)
		}
	})
}

func TestDialector_Values(t *testing.T) {
	t.Run("are returned unchanged", func(t *testing.T) {
		// with separate settings the client interpolates parameters; with the DSN it
		// prepares statements
		for name, o := range connections(t) {
			t.Run(name, func(t *testing.T) {
				o.AutoMigrate = []any{&value{}}
				db := open(t, logContext(t, io.Discard), o)
				for _, want := range []value{
					{},
					{
						Text:   "a\x00'\"\\\n",
						Number: 16777213, Bytes: []byte{0, '\'', '\\', 255, '\n'},
						Count: math.MaxUint64,
					},
					{
						Text: "\\", At: time.Date(2024, 2, 29, 23, 59, 59, 999999000, time.UTC),
						Number: math.MaxFloat32, Bytes: []byte{},
					},
				} {
					if err := db.Create(&want).Error; err != nil {
						t.Fatal(err)
					}
					var got value
					if err := db.Where("id = ?", want.ID).Take(&got).Error; err != nil {
						t.Fatal(err)
					}
					if got.Text != want.Text || got.Number != want.Number ||
						string(got.Bytes) != string(want.Bytes) ||
						got.Count != want.Count || !got.At.Equal(want.At) {
						t.Errorf("stored %+v, got %+v", want, got)
					}
				}
			})
		}
	})

	t.Run("are rejected with a client error if out of range", func(t *testing.T) {
		for name, o := range connections(t) {
			t.Run(name, func(t *testing.T) {
				o.AutoMigrate = []any{&value{}}
				db := open(t, logContext(t, io.Discard), o)
				var maxPacket int
				if err := db.Raw("SELECT @@max_allowed_packet").Scan(&maxPacket).Error; err != nil {
					t.Fatal(err)
				}
				for _, tc := range []struct {
					name  string
					value value
					want  *xerror.ErrorCode
				}{
					{
						"year too late",
						value{At: time.Date(12024, 1, 1, 0, 0, 0, 0, time.UTC)},
						xerror.DataOutOfRange,
					},
					{
						"year too early",
						value{At: time.Date(-2024, 1, 1, 0, 0, 0, 0, time.UTC)},
						xerror.DataOutOfRange,
					},
					{
						"larger than a packet",
						value{Bytes: make([]byte, maxPacket+1)},
						xerror.DataTooLarge,
					},
				} {
					err := db.Create(&tc.value).Error
					if got := xerror.From(err).GetErrorCode(); got != tc.want ||
						strings.Contains(err.Error(), "2024") {
						t.Errorf("%s: error = %v (%v), want %v without the value",
							tc.name, err, got, tc.want)
					}
				}
				at := time.Date(2024, 5, 6, 7, 8, 9, 123456789, time.UTC)
				if err := db.Create(&value{At: at}).Error; err != nil {
					t.Fatal(err)
				}
				var got value
				if err := db.Where("at = ?", at).Take(&got).Error; err != nil ||
					!got.At.Equal(at.Truncate(time.Microsecond)) {
					t.Errorf("time with nanoseconds = %v (%v), want it truncated to microseconds",
						got.At, err)
				}
			})
		}
	})
}

// folded has a column with a case-insensitive collation and one that compares bytes.
type folded struct {
	ID     int64  `gorm:"primaryKey;autoIncrement"`
	Folded string `gorm:"type:varchar(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci;uniqueIndex"`
	Exact  string `gorm:"type:varchar(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;uniqueIndex"`
}

func TestDialector_Collation(t *testing.T) {
	db := open(t, logContext(t, io.Discard),
		xdb.Options{Parts: serverConfig(t), AutoMigrate: []any{&folded{}}})
	if err := db.Create(&folded{Folded: "ada", Exact: "ada"}).Error; err != nil {
		t.Fatal(err)
	}
	for column, want := range map[string][]string{
		"folded": {"ADA", "ada ", "Ádá"},
		"exact":  {"ada "},
	} {
		for _, text := range []string{"ADA", "ada ", "Ádá"} {
			var n int64
			if err := db.Model(&folded{}).Where(column+" = ?", text).Count(&n).Error; err != nil {
				t.Fatal(err)
			}
			same := false
			for _, w := range want {
				same = same || w == text
			}
			if (n == 1) != same {
				t.Errorf("%s: rows equal to %q = %d, want a match: %t", column, text, n, same)
			}
		}
	}
	if err := db.Create(&folded{Folded: "other", Exact: "ADA"}).Error; err != nil {
		t.Errorf("insert a different case into a bytewise column: %v", err)
	}
	err := db.Create(&folded{Folded: "ADA", Exact: "x"}).Error
	if got := xerror.From(err).GetErrorCode(); got != xerror.UniqueConstraint {
		t.Errorf("code of a different case in a case-insensitive column = %v, want %v",
			got, xerror.UniqueConstraint)
	}
}

// filled has a value that the server generates.
type filled struct {
	ID   int64     `gorm:"primaryKey;autoIncrement"`
	Name string    `gorm:"size:20;uniqueIndex"`
	Made time.Time `gorm:"default:CURRENT_TIMESTAMP(6)"`
}

func TestDialector_Create(t *testing.T) {
	t.Run("sets the generated IDs of a slice", func(t *testing.T) {
		db := open(t, logContext(t, io.Discard),
			xdb.Options{Parts: serverConfig(t), AutoMigrate: []any{&filled{}}})
		all := []filled{{Name: "a"}, {Name: "b"}, {Name: "c"}}
		if err := db.Create(&all).Error; err != nil {
			t.Fatal(err)
		}
		for _, f := range all {
			var got filled
			if err := db.Where("name = ?", f.Name).Take(&got).Error; err != nil || got.ID != f.ID ||
				got.Made.IsZero() {
				t.Errorf("row = %+v (%v), want %+v", got, err, f)
			}
		}
		err := db.Transaction(func(tx *gorm.DB) error {
			return tx.Delete(&filled{}, all[0].ID).Error
		})
		if err != nil {
			t.Error(err)
		}
	})
}
