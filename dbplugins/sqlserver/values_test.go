package sqlserver_test

import (
	"database/sql"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/major/xdb"
)

func TestConn_CheckNamedValue(t *testing.T) {
	t.Run("sends parameters unchanged", func(t *testing.T) {
		east := time.FixedZone("east", 8*3600)
		at := time.Date(2024, 3, 1, 7, 59, 59, 999999000, east)
		text, small := "x", int8(-1)
		s := startDouble(t, nil)
		db, _ := open(t, s, xdb.Options{})
		for _, tc := range []struct {
			name  string
			value any
			want  string
		}{
			{name: "smallest int8", value: int8(-128), want: "smallint -128"},
			{name: "pointer to int8", value: &small, want: "bigint -1"},
			{name: "int16", value: int16(-300), want: "smallint -300"},
			{name: "uint8", value: uint8(255), want: "tinyint 255"},
			{name: "int64", value: int64(math.MinInt64), want: "bigint -9223372036854775808"},
			{name: "uint64", value: uint64(math.MaxInt64), want: "bigint 9223372036854775807"},
			{name: "bool", value: true, want: "bit true"},
			{name: "float64", value: 1.5, want: "float(8) 1.5"},
			{name: "string", value: "größe 🔑", want: "nvarchar(8) größe 🔑"},
			{name: "string with a NUL byte", value: "a\x00b", want: "nvarchar(3) a\x00b"},
			{name: "pointer to string", value: &text, want: "nvarchar(1) x"},
			{name: "empty string", value: "", want: "nvarchar(max) "},
			{
				name:  "string of 4001 characters",
				value: fmt.Sprintf("%04001d", 0),
				want:  "nvarchar(max) " + fmt.Sprintf("%04001d", 0),
			},
			{name: "bytes", value: []byte{0, 255}, want: "varbinary(2) [0 255]"},
			{name: "nil bytes", value: []byte(nil), want: "varbinary(max) <nil>"},
			{name: "nil", value: nil, want: "null <nil>"},
			{
				name:  "time of another zone",
				value: at, want: "datetimeoffset(7) 2024-02-29 23:59:59.999999 +0000 +0000",
			},
			{
				name:  "pointer to a time",
				value: &at, want: "datetimeoffset(7) 2024-02-29 23:59:59.999999 +0000 +0000",
			},
			{
				name: "sql.NullTime", value: sql.NullTime{Time: at, Valid: true},
				want: "datetimeoffset(7) 2024-02-29 23:59:59.999999 +0000 +0000",
			},
			{
				name:  "sql.NullString",
				value: sql.NullString{String: "x", Valid: true}, want: "nvarchar(1) x",
			},
			{
				name: "late time", value: time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC),
				want: "datetimeoffset(7) 9999-12-31 23:59:59 +0000 +0000",
			},
			{
				name:  "the zero time",
				value: time.Time{}, want: "datetimeoffset(7) 0001-01-01 00:00:00 +0000 +0000",
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				s.Reset()
				if err := db.Exec("UPDATE t SET x = ?", tc.value).Error; err != nil {
					t.Fatal(err)
				}
				p := s.Requests()[0].Params[0]
				if got := fmt.Sprintf("%s %v", p.Type, p.Value); got != tc.want {
					t.Errorf("parameter = %q, want %q", got, tc.want)
				}
			})
		}
	})

	t.Run("rejects values that the library would change", func(t *testing.T) {
		broken := value + "\xff"
		s := startDouble(t, nil)
		db, _ := open(t, s, xdb.Options{})
		for _, tc := range []struct {
			name  string
			value any
			want  *xerror.ErrorCode
		}{
			{name: "invalid UTF-8", value: broken, want: xerror.DataInvalid},
			{name: "pointer to invalid UTF-8", value: &broken, want: xerror.DataInvalid},
			{
				name:  "sql.NullString",
				value: sql.NullString{String: broken, Valid: true}, want: xerror.DataInvalid,
			},
			{
				name: "half a surrogate pair", value: value + "\xed\xa0\x80",
				want: xerror.DataInvalid,
			},
			{
				name: "late time", value: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC),
				want: xerror.DataOutOfRange,
			},
			{
				name:  "early time",
				value: time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC), want: xerror.DataOutOfRange,
			},
			{name: "uint64", value: uint64(math.MaxInt64 + 1), want: xerror.DataOutOfRange},
		} {
			t.Run(tc.name, func(t *testing.T) {
				s.Reset()
				err := db.Exec("UPDATE t SET x = ?", tc.value).Error
				if code := xerror.From(err).GetErrorCode(); code != tc.want {
					t.Errorf("code = %v, want %v (%v)", code, tc.want, err)
				}
				if strings.Contains(fmt.Sprint(err), value) || len(s.Requests()) > 0 {
					t.Errorf("error = %v with the value, or it was sent: %v", err, s.Requests())
				}
			})
		}
	})
}

func TestRows_Values(t *testing.T) {
	at := time.Date(1969, 12, 31, 23, 59, 59, 1000, time.UTC)
	late := time.Date(2999, 12, 31, 23, 59, 59, 999999000, time.UTC)
	s := startDouble(t, when(`FROM "kinds_of_columns"`, tdsReply{
		Columns: []tdsColumn{
			tdsNVarChar("code"), tdsBigInt("small"), tdsBigInt("whole"), tdsDecimal("price"),
			tdsDecimal("money"), tdsBit("yes"), tdsVarBinary("data"), tdsNVarChar("text"),
			tdsDateTimeOffset("at"), tdsDateTimeOffset("maybe"), tdsDateTimeOffset("deleted"),
		},
		Rows: [][]any{
			{
				"größe 🔑", int64(-128), int64(math.MaxInt64), "12.5", "9999999999999999.9999",
				true,
				[]byte{0, 255},
				"", at, late, nil,
			},
			{
				"", int64(1), int64(math.MinInt64), "-0.0001", "-9999999999999999.9999",
				false, nil, nil, late, nil, nil,
			},
		},
	}))
	db, _ := open(t, s, xdb.Options{})
	var got []kindsOfColumns
	if err := db.Find(&got).Error; err != nil || len(got) != 2 {
		t.Fatalf("Find = %v, %d rows", err, len(got))
	}
	want := []kindsOfColumns{
		{
			Code: "größe 🔑", Small: -128, Whole: math.MaxInt64, Price: 12.5,
			Money: "9999999999999999.9999", Yes: true, Data: []byte{0, 255}, At: at, Maybe: &late,
		},
		{Small: 1, Whole: math.MinInt64, Price: -0.0001, Money: "-9999999999999999.9999", At: late},
	}
	for i, w := range want {
		g := got[i]
		_, offset := g.At.Zone()
		if !g.At.Equal(w.At) || offset != 0 || (g.Maybe == nil) != (w.Maybe == nil) ||
			g.Maybe != nil && !g.Maybe.Equal(*w.Maybe) {
			t.Errorf("times = %v, %v; want %v, %v", g.At, g.Maybe, w.At, w.Maybe)
		}
		g.At, g.Maybe, w.At, w.Maybe = time.Time{}, nil, time.Time{}, nil
		if g, w := fmt.Sprintf("%+v", g), fmt.Sprintf("%+v", w); g != w {
			t.Errorf("row = %s, want %s", g, w)
		}
	}
}
