package xutil_test

import (
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/plinthgo/plinth/core/common/xutil"
)

func TestParser(t *testing.T) {
	t.Run("parses numbers and booleans", func(t *testing.T) {
		p := xutil.Parse()
		if n, err := p.Int64(" -42 "); n != -42 || err != nil {
			t.Errorf("Int64 = %d, %v", n, err)
		}
		if n, err := p.Int64("9223372036854775807"); n != math.MaxInt64 || err != nil {
			t.Errorf("Int64 = %d, %v", n, err)
		}
		if f, err := p.Float("1.5e3"); f != 1500 || err != nil {
			t.Errorf("Float = %v, %v", f, err)
		}
		if b, err := p.Bool("Yes"); !b || err != nil {
			t.Errorf("Bool = %v, %v", b, err)
		}
	})

	t.Run("returns errors without the input", func(t *testing.T) {
		p := xutil.Parse()
		for _, tc := range []struct {
			name string
			err  error
			want error
		}{
			{name: "int64", err: errOf(p.Int64("s3cret")), want: strconv.ErrSyntax},
			{
				name: "int64 above",
				err:  errOf(p.Int64("9223372036854775808")), want: strconv.ErrRange,
			},
			{
				name: "int64 below",
				err:  errOf(p.Int64("-9223372036854775809")), want: strconv.ErrRange,
			},
			{name: "NaN", err: errOf(p.Float("NaN")), want: strconv.ErrRange},
			{name: "infinity", err: errOf(p.Float("-Inf")), want: strconv.ErrRange},
			{name: "too large", err: errOf(p.Float("1e999")), want: strconv.ErrRange},
			{name: "float", err: errOf(p.Float("s3cret")), want: strconv.ErrSyntax},
			{name: "empty", err: errOf(p.Int64("")), want: strconv.ErrSyntax},
			{name: "bool", err: errOf(p.Bool("s3cret")), want: xutil.ErrParse},
		} {
			t.Run(tc.name, func(t *testing.T) {
				if !errors.Is(tc.err, tc.want) || !errors.Is(tc.err, xutil.ErrParse) {
					t.Errorf("error = %v, want %v", tc.err, tc.want)
				}
				if strings.Contains(tc.err.Error(), "s3cret") {
					t.Errorf("the error contains the input: %v", tc.err)
				}
			})
		}
	})
}

func errOf[T any](_ T, err error) error { return err }

func TestParser_ToInt64(t *testing.T) {
	type celsius int8
	type digits string
	for _, tc := range []struct {
		name string
		in   any
		want int64
	}{
		{name: "int", in: -5, want: -5},
		{name: "named", in: celsius(-5), want: -5},
		{name: "uint64", in: uint64(math.MaxInt64), want: math.MaxInt64},
		{name: "float", in: 1e15, want: 1e15},
		{name: "float32", in: float32(-2), want: -2},
		{name: "lowest float", in: -0x1p63, want: math.MinInt64},
		{name: "string", in: "77", want: 77},
		{name: "named string", in: digits("77"), want: 77},
		{name: "JSON number", in: json.Number("9007199254740993"), want: 9007199254740993},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got, err := xutil.Parse().ToInt64(tc.in); got != tc.want || err != nil {
				t.Errorf("ToInt64 = %d, %v, want %d", got, err, tc.want)
			}
		})
	}
	for _, in := range []any{
		nil, true, "x",
		[]int{1},
		(*int)(nil), json.Number("1.5"), json.Number("1e400"),
		uint64(math.MaxInt64) + 1, uint64(math.MaxUint64), math.NaN(), math.Inf(1), math.Inf(-1),
		0x1p63, -0x1.8p63, 1.5, float32(math.Inf(1)),
	} {
		if got, err := xutil.Parse().ToInt64(in); !errors.Is(err, xutil.ErrParse) || got != 0 {
			t.Errorf("ToInt64(%v) = %d, %v, want 0, ErrParse", in, got, err)
		}
	}
}

func FuzzParser_ToInt64(f *testing.F) {
	f.Add(0x1p63)
	f.Add(math.NaN())
	f.Fuzz(func(t *testing.T, v float64) {
		got, err := xutil.Parse().ToInt64(v)
		if err == nil && float64(got) != v {
			t.Errorf("ToInt64(%v) = %d", v, got)
		}
	})
}
