package tdsdouble

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"slices"
	"time"
)

// The types of values, 2.2.5.4.
const (
	typeNull           = 0x1f
	typeInt            = 0x26
	typeDateTimeOffset = 0x2b
	typeBit            = 0x68
	typeDecimal        = 0x6a
	typeFloat          = 0x6d
	typeVarBinary      = 0xa5
	typeNVarChar       = 0xe7

	null64 = math.MaxUint64 // in the place of a length
)

// Column is a column of a result.
type Column struct {
	Name string

	info   []byte           // its type
	encode func(any) []byte // of one value of it
}

// BigInt is a column of int64.
func BigInt(name string) Column {
	return Column{name, []byte{typeInt, 8}, func(v any) []byte {
		return short(v, func() []byte {
			return binary.LittleEndian.AppendUint64(nil, uint64(as[int64](v))) //nolint:gosec // its bits
		})
	}}
}

// Bit is a column of bool.
func Bit(name string) Column {
	return Column{name, []byte{typeBit, 1}, func(v any) []byte {
		return short(v, func() []byte {
			if as[bool](v) {
				return []byte{1}
			}
			return []byte{0}
		})
	}}
}

// NVarChar is a column of texts of any length.
func NVarChar(name string) Column {
	return Column{name, []byte{typeNVarChar, 0xff, 0xff, 0x09, 0x04, 0xd0, 0, 0x34}, func(v any) []byte {
		return long(v, func() []byte { return toUTF16(as[string](v)) })
	}}
}

// VarBinary is a column of []byte of any length.
func VarBinary(name string) Column {
	return Column{name, []byte{typeVarBinary, 0xff, 0xff}, func(v any) []byte {
		return long(v, func() []byte { return as[[]byte](v) })
	}}
}

// DateTimeOffset is a column of time.Time in microseconds, each in its own zone.
func DateTimeOffset(name string) Column {
	return Column{name, []byte{typeDateTimeOffset, 6}, func(v any) []byte {
		return short(v, func() []byte {
			at := as[time.Time](v)
			day := at.UTC().Truncate(24 * time.Hour)
			parts := uint64(at.Sub(day).Microseconds()) //nolint:gosec // not negative
			out := binary.LittleEndian.AppendUint64(nil, parts)[:5]
			days := day.Unix()/(24*60*60) + 719162 // of the year 1 to 1970
			_, offset := at.Zone()
			out = append(out, binary.LittleEndian.AppendUint32(nil, uint32(days))[:3]...) //nolint:gosec // of this era
			return binary.LittleEndian.AppendUint16(out, uint16(offset/60))               //nolint:gosec // its bits
		})
	}}
}

// Decimal is a column of numbers that are given as texts, with four digits behind the point.
func Decimal(name string) Column {
	const precision, scale = 38, 4
	return Column{name, []byte{typeDecimal, 17, precision, scale}, func(v any) []byte {
		return short(v, func() []byte {
			number, ok := new(big.Rat).SetString(as[string](v))
			if !ok {
				panic(fmt.Sprintf("tdsdouble: %v is no number", v))
			}
			number.Mul(number, big.NewRat(10000, 1))
			out := make([]byte, 17)
			if number.Sign() >= 0 {
				out[0] = 1
			}
			copy(out[1:], reversed(new(big.Int).Abs(number.Num()).Bytes()))
			return out
		})
	}}
}

// as returns the value that a column holds; another type is a fault of the test.
func as[T any](v any) T {
	value, ok := v.(T)
	if !ok {
		panic(fmt.Sprintf("tdsdouble: a column of %T cannot hold %T", value, v))
	}
	return value
}

// short is a value with its length in a byte; 0 is NULL.
func short(v any, encode func() []byte) []byte {
	if v == nil {
		return []byte{0}
	}
	b := encode()
	return append([]byte{byte(len(b))}, b...) //nolint:gosec // short
}

// long is a value in pieces.
func long(v any, encode func() []byte) []byte {
	if v == nil {
		return binary.LittleEndian.AppendUint64(nil, null64)
	}
	b := encode()
	out := binary.LittleEndian.AppendUint64(nil, uint64(len(b)))
	if len(b) > 0 {
		out = append(binary.LittleEndian.AppendUint32(out, uint32(len(b))), b...) //nolint:gosec // of a test
	}
	return append(out, 0, 0, 0, 0)
}

// columnTokens describes the columns, 2.2.7.4.
func columnTokens(columns []Column) []byte {
	out := binary.LittleEndian.AppendUint16([]byte{tokenColumns}, uint16(len(columns))) //nolint:gosec // few
	for _, c := range columns {
		out = append(out, 0, 0, 0, 0, 9, 0) // user type; nullable
		out = append(append(out, c.info...), shortText(c.Name)...)
	}
	return out
}

func reversed(b []byte) []byte {
	b = slices.Clone(b)
	slices.Reverse(b)
	return b
}

func float(b []byte) any {
	if len(b) == 4 {
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(b))
}

// decimal reads a sign and an integer, which is the number without its point.
func decimal(b []byte, scale int) any {
	number := new(big.Int).SetBytes(reversed(b[1:]))
	if b[0] == 0 {
		number.Neg(number)
	}
	shift := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil)
	return new(big.Rat).SetFrac(number, shift).FloatString(scale)
}
