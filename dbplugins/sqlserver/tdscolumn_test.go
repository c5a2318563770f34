package sqlserver_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"slices"
	"time"
)

// Types of values, 2.2.5.4.
const (
	tdsTypeNull           = 0x1f
	tdsTypeInt            = 0x26
	tdsTypeDateTimeOffset = 0x2b
	tdsTypeBit            = 0x68
	tdsTypeDecimal        = 0x6a
	tdsTypeFloat          = 0x6d
	tdsTypeVarBinary      = 0xa5
	tdsTypeNVarChar       = 0xe7

	tdsNull64 = math.MaxUint64 // instead of a length
)

// tdsColumn is a column of a result.
type tdsColumn struct {
	Name string

	info   []byte           // the encoded type
	encode func(any) []byte // encodes a value
}

// tdsBigInt returns a column of int64.
func tdsBigInt(name string) tdsColumn {
	return tdsColumn{name, []byte{tdsTypeInt, 8}, func(v any) []byte {
		return tdsShort(v, func() []byte {
			return binary.LittleEndian.AppendUint64(nil, uint64(tdsAs[int64](v)))
		})
	}}
}

// tdsBit returns a column of bool.
func tdsBit(name string) tdsColumn {
	return tdsColumn{name, []byte{tdsTypeBit, 1}, func(v any) []byte {
		return tdsShort(v, func() []byte {
			if tdsAs[bool](v) {
				return []byte{1}
			}
			return []byte{0}
		})
	}}
}

// tdsNVarChar returns a column of strings of any length.
func tdsNVarChar(name string) tdsColumn {
	return tdsColumn{
		name,
		[]byte{tdsTypeNVarChar, 0xff, 0xff, 0x09, 0x04, 0xd0, 0, 0x34},
		func(v any) []byte {
			return tdsLong(v, func() []byte { return tdsToUTF16(tdsAs[string](v)) })
		},
	}
}

// tdsVarBinary returns a column of []byte of any length.
func tdsVarBinary(name string) tdsColumn {
	return tdsColumn{name, []byte{tdsTypeVarBinary, 0xff, 0xff}, func(v any) []byte {
		return tdsLong(v, func() []byte { return tdsAs[[]byte](v) })
	}}
}

// tdsDateTimeOffset returns a column of time.Time in microseconds, each with its own
// offset.
func tdsDateTimeOffset(name string) tdsColumn {
	return tdsColumn{name, []byte{tdsTypeDateTimeOffset, 6}, func(v any) []byte {
		return tdsShort(v, func() []byte {
			at := tdsAs[time.Time](v)
			day := at.UTC().Truncate(24 * time.Hour)
			parts := uint64(at.Sub(day).Microseconds()) // not negative
			out := binary.LittleEndian.AppendUint64(nil, parts)[:5]
			days := day.Unix()/(24*60*60) + 719162 // days from year 1 to 1970
			_, offset := at.Zone()
			out = append(out, binary.LittleEndian.AppendUint32(nil, uint32(days))[:3]...)
			return binary.LittleEndian.AppendUint16(out, uint16(offset/60))
		})
	}}
}

// tdsDecimal returns a column of decimal strings with four fractional digits.
func tdsDecimal(name string) tdsColumn {
	const precision, scale = 38, 4
	return tdsColumn{name, []byte{tdsTypeDecimal, 17, precision, scale}, func(v any) []byte {
		return tdsShort(v, func() []byte {
			number, ok := new(big.Rat).SetString(tdsAs[string](v))
			if !ok {
				panic(fmt.Sprintf("TDS double: %v is not a number", v))
			}
			number.Mul(number, big.NewRat(10000, 1))
			out := make([]byte, 17)
			if number.Sign() >= 0 {
				out[0] = 1
			}
			copy(out[1:], tdsReversed(new(big.Int).Abs(number.Num()).Bytes()))
			return out
		})
	}}
}

// tdsAs returns the value of a column. It panics if the test passes another type.
func tdsAs[T any](v any) T {
	value, ok := v.(T)
	if !ok {
		panic(fmt.Sprintf("TDS double: a column of %T cannot store %T", value, v))
	}
	return value
}

// tdsShort encodes a value with a one-byte length; 0 is NULL.
func tdsShort(v any, encode func() []byte) []byte {
	if v == nil {
		return []byte{0}
	}
	b := encode()
	return append([]byte{byte(len(b))}, b...)
}

// tdsLong encodes a value as a length and chunks.
func tdsLong(v any, encode func() []byte) []byte {
	if v == nil {
		return binary.LittleEndian.AppendUint64(nil, tdsNull64)
	}
	b := encode()
	out := binary.LittleEndian.AppendUint64(nil, uint64(len(b)))
	if len(b) > 0 {
		out = append(binary.LittleEndian.AppendUint32(out, uint32(len(b))), b...)
	}
	return append(out, 0, 0, 0, 0)
}

// tdsColumnTokens describes the columns, 2.2.7.4.
func tdsColumnTokens(columns []tdsColumn) []byte {
	out := binary.LittleEndian.AppendUint16([]byte{tdsTokenColumns}, uint16(len(columns)))
	for _, c := range columns {
		out = append(out, 0, 0, 0, 0, 9, 0) // user type; nullable
		out = append(append(out, c.info...), tdsShortText(c.Name)...)
	}
	return out
}

func tdsReversed(b []byte) []byte {
	b = slices.Clone(b)
	slices.Reverse(b)
	return b
}

func tdsFloat(b []byte) any {
	if len(b) == 4 {
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(b))
}

// tdsParseDecimal parses a sign and the unscaled integer.
func tdsParseDecimal(b []byte, scale int) any {
	number := new(big.Int).SetBytes(tdsReversed(b[1:]))
	if b[0] == 0 {
		number.Neg(number)
	}
	shift := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil)
	return new(big.Rat).SetFrac(number, shift).FloatString(scale)
}
