package xsnowflake_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/plinthgo/plinth/core/common/xsnowflake"
)

// golden is 2024-01-01 00:00:00.123 UTC, gene order, datacenter 5, node 3, sequence 777.
const (
	golden     xsnowflake.SnowflakeID = 13852800123<<22 | 16<<16 | 5<<13 | 3<<10 | 777
	goldenText                        = "58102854968192777"
)

func TestSnowflakeID(t *testing.T) {
	t.Run("returns its parts", func(t *testing.T) {
		if got := golden.String(); got != goldenText {
			t.Errorf("String = %s, want %s", got, goldenText)
		}
		wantTime := time.Date(2024, 1, 1, 0, 0, 0, 123e6, time.UTC)
		if got := golden.Time(); !got.Equal(wantTime) {
			t.Errorf("Time = %v, want %v", got, wantTime)
		}
		if got := golden.Gene(); got != xsnowflake.GeneOrder {
			t.Errorf("Gene = %v, want order", got)
		}
		if dc, node, seq := golden.DatacenterID(), golden.NodeID(), golden.Sequence(); dc != 5 ||
			node != 3 || seq != 777 {
			t.Errorf("datacenter, node, sequence = %d, %d, %d, want 5, 3, 777", dc, node, seq)
		}
		if golden.IsZero() || !xsnowflake.SnowflakeID(0).IsZero() {
			t.Error("IsZero returned an incorrect value")
		}
		if golden.Int64() != int64(golden) {
			t.Error("Int64 does not return the id")
		}
	})

	t.Run("encodes JSON as a decimal string", func(t *testing.T) {
		type doc struct {
			ID  xsnowflake.SnowflakeID            `json:"id"`
			Opt *xsnowflake.SnowflakeID           `json:"opt"`
			Map map[xsnowflake.SnowflakeID]string `json:"map"`
		}
		text, err := json.Marshal(doc{ID: golden, Map: map[xsnowflake.SnowflakeID]string{7: "x"}})
		if want := `{"id":"` + goldenText + `","opt":null,"map":{"7":"x"}}`; err != nil ||
			string(text) != want {
			t.Fatalf("Marshal = %s, %v, want %s", text, err, want)
		}
		for _, in := range []string{`{"id":"` + goldenText + `"}`, `{"id":` + goldenText + `}`} {
			var d doc
			if err := json.Unmarshal([]byte(in), &d); err != nil || d.ID != golden {
				t.Errorf("Unmarshal(%s) = %v, %v", in, d.ID, err)
			}
		}
		d := doc{ID: 5}
		if err := json.Unmarshal([]byte(`{"id":null,"map":{"8":"y"}}`), &d); err != nil ||
			d.ID != 5 || d.Map[8] != "y" {
			t.Errorf("after null: %+v, %v, want the id unchanged", d, err)
		}
		for _, in := range []string{
			`""`, `"-1"`, `-1`, `1.0`, `1e3`, `true`, `{}`, `[]`, `"1`, `" 1"`,
			`99999999999999999999`, `"99999999999999999999"`,
		} {
			var id xsnowflake.SnowflakeID
			if err := json.Unmarshal([]byte(in), &id); err == nil || id != 0 {
				t.Errorf("Unmarshal(%s) = %v, %v, want an error", in, id, err)
			}
		}
	})

	t.Run("round-trips text and binary", func(t *testing.T) {
		for _, want := range []xsnowflake.SnowflakeID{0, 1, golden, 1<<63 - 1} {
			var fromText, fromBinary xsnowflake.SnowflakeID
			text, err1 := want.MarshalText()
			err2 := errors.Join(fromText.UnmarshalText(text), fromText.UnmarshalParam(string(text)))
			data, err3 := want.MarshalBinary()
			err4 := fromBinary.UnmarshalBinary(data)
			if err := errors.Join(err1, err2, err3, err4); err != nil || fromText != want ||
				fromBinary != want || len(data) != 8 {
				t.Errorf("%v round-trips as %v and %v, %v", want, fromText, fromBinary, err)
			}
		}
		var id xsnowflake.SnowflakeID
		for _, data := range [][]byte{nil, {1}, {0x80, 0, 0, 0, 0, 0, 0, 0}, make([]byte, 9)} {
			if err := id.UnmarshalBinary(data); !errors.Is(err, xsnowflake.ErrInvalidID) {
				t.Errorf("UnmarshalBinary(%x) = %v, want ErrInvalidID", data, err)
			}
		}
	})

	t.Run("implements Scan and Value", func(t *testing.T) {
		for _, tc := range []struct {
			name string
			src  any
			want xsnowflake.SnowflakeID
		}{
			{name: "int64", src: int64(golden), want: golden},
			{name: "bytes", src: []byte(goldenText), want: golden},
			{name: "string", src: goldenText, want: golden},
			{name: "null", src: nil, want: 0},
		} {
			t.Run(tc.name, func(t *testing.T) {
				id := xsnowflake.SnowflakeID(1)
				if err := id.Scan(tc.src); err != nil || id != tc.want {
					t.Errorf("Scan = %v, %v, want %v", id, err, tc.want)
				}
			})
		}
		for _, src := range []any{int64(-1), "", "x", []byte("-1"), 1.5, true, time.Now(), 7} {
			id := xsnowflake.SnowflakeID(1)
			if err := id.Scan(src); !errors.Is(err, xsnowflake.ErrInvalidID) || id != 1 {
				t.Errorf("Scan(%T) = %v, %v, want ErrInvalidID and no change", src, id, err)
			}
		}
		if v, err := golden.Value(); err != nil || v != int64(golden) {
			t.Errorf("Value = %v, %v", v, err)
		}
		if got := golden.GormDataType(); got != "bigint" {
			t.Errorf("GormDataType = %q", got)
		}
	})
}

var invalidTexts = []struct{ name, text string }{
	{name: "empty", text: ""},
	{name: "blank", text: " "},
	{name: "blank before", text: " 1"},
	{name: "blank after", text: "1 "},
	{name: "newline", text: "1\n"},
	{name: "negative", text: "-1"},
	{name: "plus", text: "+1"},
	{name: "overflow by one", text: "9223372036854775808"},
	{name: "19 nines", text: strings.Repeat("9", 19)},
	{name: "20 nines", text: strings.Repeat("9", 20)},
	{name: "leading zero", text: "01"},
	{name: "fraction", text: "1.0"},
	{name: "exponent", text: "1e3"},
	{name: "hexadecimal", text: "0x10"},
	{name: "underscore", text: "1_000"},
	{name: "other digits", text: "١٢"},
	{name: "null", text: "null"},
}

func TestParseSnowflakeID(t *testing.T) {
	t.Run("rejects invalid text", func(t *testing.T) {
		for _, tc := range invalidTexts {
			t.Run(tc.name, func(t *testing.T) {
				got, err := xsnowflake.ParseSnowflakeID(tc.text)
				if !errors.Is(err, xsnowflake.ErrInvalidID) || got != 0 {
					t.Errorf("ParseSnowflakeID = %v, %v, want 0, ErrInvalidID", got, err)
				}
			})
		}
	})

	t.Run("accepts the whole range", func(t *testing.T) {
		for _, want := range []xsnowflake.SnowflakeID{0, 1, 9, 10, golden, 1<<63 - 1} {
			if got, err := xsnowflake.ParseSnowflakeID(want.String()); err != nil || got != want {
				t.Errorf("ParseSnowflakeID(%s) = %v, %v", want, got, err)
			}
		}
	})
}

func FuzzParseSnowflakeID(f *testing.F) {
	for _, tc := range invalidTexts {
		f.Add(tc.text)
	}
	f.Add(goldenText)
	f.Fuzz(func(t *testing.T, text string) {
		id, err := xsnowflake.ParseSnowflakeID(text)
		if err == nil && (id < 0 || id.String() != text) {
			t.Errorf("ParseSnowflakeID(%q) = %v", text, id)
		}
		var fromJSON xsnowflake.SnowflakeID
		if errJSON := fromJSON.UnmarshalJSON([]byte(text)); err == nil &&
			(errJSON != nil || fromJSON != id) {
			t.Errorf("UnmarshalJSON(%q) = %v, %v", text, fromJSON, errJSON)
		}
	})
}

func ExampleParseSnowflakeID() {
	id, err := xsnowflake.ParseSnowflakeID("58102854968192777")
	fmt.Println(id.Gene(), id.DatacenterID(), id.NodeID(), id.Time().Format(time.RFC3339Nano), err)
	_, err = xsnowflake.ParseSnowflakeID("-1")
	fmt.Println(err)
	// Output:
	// 16 5 3 2024-01-01T00:00:00.123Z <nil>
	// xsnowflake: not an id (accepted: digits without a leading zero, up to 2^63-1)
}
