package dbtest

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"reflect"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/major/xmodels"
)

var typeCases = []testCase{
	{"Types/booleans, bytes and numbers", testTypes},
	{"Types/NULL is no value", testNulls},
	{"Types/JSON in a text column", testJSON},
	{"Types/auto-increment keys", testAutoIncrement},
	{"Types/column defaults", testDefaults},
}

type sample struct {
	xmodels.BaseEntity
	Active  bool    `gorm:"not null"`
	Ratio   float64 `gorm:"not null"`
	Tiny    int8    `gorm:"not null"`
	Small   int16   `gorm:"not null"`
	Middle  int32   `gorm:"not null"`
	Large   int64   `gorm:"not null"`
	Natural uint64  `gorm:"not null"`
	Word    uint32  `gorm:"not null"`
	Data    []byte

	MaybeActive *bool
	MaybeRatio  *float64
	MaybeLarge  *int64
	MaybeText   *string `gorm:"size:20"`
	MaybeAt     *time.Time
}

func everyByte() []byte {
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	return all
}

func testTypes(tb testing.TB, s *suite) {
	db := s.open(tb, &sample{})
	yes, ratio, large, text := true, -0.1, int64(-1), "text"
	at := time.Date(2024, 2, 29, 23, 59, 59, 123456000, time.UTC)
	for name, want := range map[string]sample{
		"zero": {Data: []byte{0}},
		"largest": {
			Active: true, Ratio: 1234567.0123456789,
			Tiny: math.MaxInt8, Small: math.MaxInt16, Middle: math.MaxInt32, Large: math.MaxInt64,
			Natural: math.MaxInt64, Word: math.MaxUint32, Data: everyByte(),
			MaybeActive: &yes, MaybeRatio: &ratio, MaybeLarge: &large, MaybeText: &text,
			MaybeAt: &at,
		},
		"smallest": {
			Ratio: -math.Pi * 1e-9,
			Tiny:  math.MinInt8, Small: math.MinInt16, Middle: math.MinInt32, Large: math.MinInt64,
			Data:        bytes.Repeat(everyByte(), 400),
			MaybeActive: new(bool), MaybeRatio: new(float64), MaybeLarge: new(int64),
		},
	} {
		check(tb, db.Create(&want).Error, name)
		var got sample
		check(tb, db.First(&got, want.ID).Error, name)
		wantSample(tb, name, got, want)
	}
	var active int64
	check(tb, db.Model(&sample{}).Where("active = ?", true).Or("maybe_active = ?", false).
		Count(&active).Error, "count")
	if active != 2 {
		tb.Errorf("matching rows = %d, want 2", active)
	}
	check(tb, db.Model(&sample{}).Where("active = ?", false).Update("active", true).Error, "update")
	var all []bool
	check(tb, db.Model(&sample{}).Pluck("active", &all).Error, "pluck")
	if fmt.Sprint(all) != "[true true true]" {
		tb.Errorf("active = %v, want true three times", all)
	}
}

// wantSample reports every field that differs.
func wantSample(tb testing.TB, name string, got, want sample) {
	if got.MaybeAt != nil && want.MaybeAt != nil && got.MaybeAt.Equal(*want.MaybeAt) {
		got.MaybeAt = want.MaybeAt // another check compares the time zone
	}
	g, w := reflect.ValueOf(got), reflect.ValueOf(want)
	for i := 1; i < g.NumField(); i++ { // skip the embedded entity
		if !reflect.DeepEqual(g.Field(i).Interface(), w.Field(i).Interface()) {
			tb.Errorf("%s: %s came back as %.60v, want %.60v",
				name, g.Type().Field(i).Name, dereferenced(g.Field(i)), dereferenced(w.Field(i)))
		}
	}
}

func dereferenced(v reflect.Value) any {
	if v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	return v.Interface()
}

func testNulls(tb testing.TB, s *suite) {
	db := s.open(tb, &sample{})
	none, empty := sample{}, sample{Data: []byte{}}
	check(tb, db.Create([]*sample{&none, &empty}).Error, "create")
	for _, column := range []string{
		"maybe_active", "maybe_ratio", "maybe_large", "maybe_text", "maybe_at",
	} {
		var n int64
		check(tb, db.Model(&sample{}).Where(column+" IS NULL").Count(&n).Error, "count")
		if n != 2 {
			tb.Errorf("%s: rows without a value = %d, want 2", column, n)
		}
	}
	var nulls int64
	check(tb, db.Model(&sample{}).Where("data IS NULL").Count(&nulls).Error, "count")
	want := int64(1)
	if s.differs(DiffEmptyIsNull) {
		want = 2
	}
	if nulls != want {
		tb.Errorf("rows with NULL = %d, want %d: empty bytes are not NULL", nulls, want)
	}
	var got sample
	check(tb, db.First(&got, none.ID).Error, "read")
	wantSample(tb, "none", got, none)
	if got.Data != nil {
		tb.Errorf("NULL came back as %q", got.Data)
	}
	got = sample{}
	check(tb, db.First(&got, empty.ID).Error, "read")
	if len(got.Data) != 0 {
		tb.Errorf("empty bytes came back as %q", got.Data)
	}
	check(tb, db.Model(&got).Update("maybe_at", time.Now()).Error, "set")
	check(tb, db.Model(&got).Updates(map[string]any{"maybe_at": nil, "data": nil}).Error, "reset")
	check(tb, db.Where("maybe_at IS NULL AND data IS NULL").First(&sample{}, empty.ID).Error,
		"read the reset row")
}

type document struct {
	xmodels.BaseEntity
	Tags []string       `gorm:"serializer:json"`
	More map[string]any `gorm:"serializer:json"`
}

func testJSON(tb testing.TB, s *suite) {
	db := s.open(tb, &document{})
	want := document{
		Tags: []string{"größe", `a"b\c`, "😀"},
		More: map[string]any{"deep": map[string]any{"n": 1.5}, "none": nil},
	}
	check(tb, db.Create(&want).Error, "create")
	var got document
	check(tb, db.First(&got, want.ID).Error, "read")
	if !reflect.DeepEqual(got.Tags, want.Tags) || !reflect.DeepEqual(got.More, want.More) {
		tb.Errorf("document = %q %v, want %q %v", got.Tags, got.More, want.Tags, want.More)
	}
	long := bytes.Repeat([]byte("0123456789"), 1000)
	check(tb, db.Model(&got).Select("tags").Updates(&document{Tags: []string{string(long)}}).Error,
		"update")
	var again document
	check(tb, db.First(&again, want.ID).Error, "read")
	if len(again.Tags) != 1 || again.Tags[0] != string(long) {
		tb.Errorf("a document of 10 kB came back with %d tags", len(again.Tags))
	}
}

type autoIncrement struct {
	ID   uint   `gorm:"primaryKey"`
	Name string `gorm:"size:20;not null"`
}

func testAutoIncrement(tb testing.TB, s *suite) {
	db := s.open(tb, &autoIncrement{})
	single := autoIncrement{Name: "single"}
	check(tb, db.Create(&single).Error, "create")
	batch := []autoIncrement{{Name: "b1"}, {Name: "b2"}, {Name: "b3"}}
	check(tb, db.Create(&batch).Error, "create a batch")
	pointers := []*autoIncrement{{Name: "p1"}, {Name: "p2"}}
	check(tb, db.Create(pointers).Error, "create a batch of pointers")
	err := db.Transaction(func(tx *gorm.DB) error {
		return errors.Join(tx.Create(&autoIncrement{Name: "rolled back"}).Error, errBoom)
	})
	if !errors.Is(err, errBoom) {
		tb.Errorf("Transaction = %v, want the callback's error", err)
	}
	last := autoIncrement{Name: "last"}
	check(tb, db.Create(&last).Error, "create after a transaction")
	seen := map[uint]bool{}
	for _, c := range append(batch, single, *pointers[0], *pointers[1], last) {
		if c.ID == 0 || seen[c.ID] {
			tb.Errorf("%s: key = %d, want a new one", c.Name, c.ID)
			continue
		}
		seen[c.ID] = true
		var got autoIncrement
		if err := db.First(&got, c.ID).Error; err != nil || got.Name != c.Name {
			tb.Errorf("%s: the row with its key %d is %q (%v)", c.Name, c.ID, got.Name, err)
		}
	}
}

type preset struct {
	xmodels.BaseEntity
	Name    string `gorm:"size:20;not null;default:anonymous"`
	Score   int    `gorm:"not null;default:7"`
	Enabled *bool  `gorm:"not null;default:true"`
}

func testDefaults(tb testing.TB, s *suite) {
	db := s.open(tb, &preset{})
	off := false
	explicit := preset{Name: "explicit", Score: 1, Enabled: &off}
	rows := []*preset{{}, &explicit}
	check(tb, db.Create(rows).Error, "create")
	single := preset{}
	check(tb, db.Create(&single).Error, "create")
	for _, tc := range []struct {
		name string
		row  preset
		want string
	}{
		{"default values", *rows[0], "anonymous 7 true"},
		{"explicit values", explicit, "explicit 1 false"},
		{"default values, single row", single, "anonymous 7 true"},
	} {
		var got preset
		check(tb, db.First(&got, tc.row.ID).Error, tc.name)
		if text := fmt.Sprint(got.Name, " ", got.Score, " ", *got.Enabled); text != tc.want {
			tb.Errorf("%s: row = %s, want %s", tc.name, text, tc.want)
		}
	}
	if single.Score != 7 || single.Name != "anonymous" {
		tb.Errorf("the entity = %q %d after the insert, want the defaults",
			single.Name, single.Score)
	}
}
