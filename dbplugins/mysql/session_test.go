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

// value is a row for what a column does with what it is given.
type value struct {
	ID     int64     `gorm:"primaryKey;autoIncrement"`
	Text   string    `gorm:"size:10"`
	At     time.Time `gorm:"not null"`
	Number float32
	Bytes  []byte
	Count  uint64
}

// twoWays are the parts, and a DSN without parameters.
func twoWays(tb testing.TB) map[string]xdb.Options {
	tb.Helper()
	dsn := dbtest.FindServer(tb, mysql.Name).DSN
	return map[string]xdb.Options{"parts": {Parts: parts(tb, dsn)}, "DSN": {DSN: xlog.Secret(dsn)}}
}

func TestASessionIsStrictAndInUTCHoweverItIsOpened(t *testing.T) {
	for name, o := range twoWays(t) {
		t.Run(name, func(t *testing.T) {
			o.AutoMigrate = []any{&value{}}
			db := open(t, logged(t, io.Discard), o)
			var zone, charset string
			if err := db.Raw("SELECT @@time_zone, @@character_set_client").Row().Scan(&zone,
				&charset); err != nil {
				t.Fatal(err)
			}
			if zone != "+00:00" || charset != "utf8mb4" {
				t.Errorf("time zone = %q, character set = %q; want +00:00 and utf8mb4",
					zone, charset)
			}
			err := db.Create(&value{Text: "longer than ten", At: time.Now()}).Error
			if got := xerror.From(err).GetErrorCode(); got != xerror.DataTooLarge {
				t.Errorf("a text that is too long: %v, want %v", got, xerror.DataTooLarge)
			}
			v := value{Text: "x", At: time.Now()}
			if err := db.Create(&v).Error; err != nil {
				t.Fatal(err)
			}
			if n := db.Model(&v).UpdateColumn("text", "x").RowsAffected; n != 1 {
				t.Errorf("rows found by an update that changes nothing = %d, want 1", n)
			}
		})
	}
}

func TestAParameterOfADSNWins(t *testing.T) {
	server := dbtest.FindServer(t, mysql.Name)
	parsed(t, server.DSN)
	dsn := server.DSN + "?sql_mode=%27ANSI_QUOTES%27&time_zone=%27%2B05:00%27"
	db := open(t, logged(t, io.Discard), xdb.Options{DSN: xlog.Secret(dsn)})
	var mode, zone string
	if err := db.Raw("SELECT @@sql_mode, @@time_zone").Row().Scan(&mode, &zone); err != nil {
		t.Fatal(err)
	}
	if mode != "ANSI_QUOTES" || zone != "+05:00" {
		t.Errorf("sql_mode = %q, time_zone = %q; want what the DSN says", mode, zone)
	}
}

func TestValuesComeBackAsTheyWent(t *testing.T) {
	for name, o := range twoWays(t) { // of which one prepares its statements
		t.Run(name, func(t *testing.T) {
			o.AutoMigrate = []any{&value{}}
			db := open(t, logged(t, io.Discard), o)
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
					t.Errorf("%+v came back as %+v", want, got)
				}
			}
		})
	}
}

func TestValuesThatDoNotFitAreTheClientsFault(t *testing.T) {
	for name, o := range twoWays(t) {
		t.Run(name, func(t *testing.T) {
			o.AutoMigrate = []any{&value{}}
			db := open(t, logged(t, io.Discard), o)
			var most int
			if err := db.Raw("SELECT @@max_allowed_packet").Scan(&most).Error; err != nil {
				t.Fatal(err)
			}
			for _, tc := range []struct {
				name  string
				value value
				want  *xerror.ErrorCode
			}{
				{
					"a year too late",
					value{At: time.Date(12024, 1, 1, 0, 0, 0, 0, time.UTC)},
					xerror.DataOutOfRange,
				},
				{
					"a year too early",
					value{At: time.Date(-2024, 1, 1, 0, 0, 0, 0, time.UTC)},
					xerror.DataOutOfRange,
				},
				{"more than a packet", value{Bytes: make([]byte, most+1)}, xerror.DataTooLarge},
			} {
				err := db.Create(&tc.value).Error
				if got := xerror.From(err).GetErrorCode(); got != tc.want ||
					strings.Contains(err.Error(), "2024") {
					t.Errorf("%s: %v (%v), want %v and no value", tc.name, err, got, tc.want)
				}
			}
			at := time.Date(2024, 5, 6, 7, 8, 9, 123456789, time.UTC)
			if err := db.Create(&value{At: at}).Error; err != nil {
				t.Fatal(err)
			}
			var got value
			if err := db.Where("at = ?", at).Take(&got).Error; err != nil ||
				!got.At.Equal(at.Truncate(time.Microsecond)) {
				t.Errorf("a time with nanoseconds came back as %v (%v)", got.At, err)
			}
		})
	}
}

// folded has one text in the table's collation, which depends on the server, one in the
// old and one byte by byte.
type folded struct {
	ID     int64  `gorm:"primaryKey;autoIncrement"`
	Folded string `gorm:"type:varchar(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci;uniqueIndex"`
	Exact  string `gorm:"type:varchar(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;uniqueIndex"`
}

func TestACollationDecidesWhichTextsAreTheSame(t *testing.T) {
	db := open(t, logged(t, io.Discard),
		xdb.Options{Parts: found(t), AutoMigrate: []any{&folded{}}})
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
				t.Errorf("%s: rows that are %q = %d, want that it is the same: %t",
					column, text, n, same)
			}
		}
	}
	if err := db.Create(&folded{Folded: "other", Exact: "ADA"}).Error; err != nil {
		t.Errorf("another case in a column that compares bytes: %v", err)
	}
	err := db.Create(&folded{Folded: "ADA", Exact: "x"}).Error
	if got := xerror.From(err).GetErrorCode(); got != xerror.UniqueConstraint {
		t.Errorf("another case in a column that folds: %v, want %v", got, xerror.UniqueConstraint)
	}
}

// filled has a value that the server makes.
type filled struct {
	ID   int64     `gorm:"primaryKey;autoIncrement"`
	Name string    `gorm:"size:20;uniqueIndex"`
	Made time.Time `gorm:"default:CURRENT_TIMESTAMP(6)"`
}

func TestASliceGetsTheIDsThatTheServerMakes(t *testing.T) {
	db := open(t, logged(t, io.Discard),
		xdb.Options{Parts: found(t), AutoMigrate: []any{&filled{}}})
	all := []filled{{Name: "a"}, {Name: "b"}, {Name: "c"}}
	if err := db.Create(&all).Error; err != nil {
		t.Fatal(err)
	}
	for _, f := range all {
		var got filled
		if err := db.Where("name = ?", f.Name).Take(&got).Error; err != nil || got.ID != f.ID ||
			got.Made.IsZero() {
			t.Errorf("row %+v of %+v (%v)", got, f, err)
		}
	}
	err := db.Transaction(func(tx *gorm.DB) error { return tx.Delete(&filled{}, all[0].ID).Error })
	if err != nil {
		t.Error(err)
	}
}
