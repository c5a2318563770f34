package sqlserver_test

import (
	"encoding/binary"
	"errors"
	"unicode/utf16"
)

var errShort = errors.New("the message is too short")

// tdsReader reads values from a message. After the end of the message it sets err and
// returns zero values.
type tdsReader struct {
	data []byte
	err  error
}

func (r *tdsReader) bytes(n int) []byte {
	if n < 0 || n > len(r.data) {
		r.data, r.err = nil, errShort
		return make([]byte, min(max(n, 0), 64))
	}
	part := r.data[:n]
	r.data = r.data[n:]
	return part
}

func (r *tdsReader) byte() byte     { return r.bytes(1)[0] }
func (r *tdsReader) uint16() uint16 { return binary.LittleEndian.Uint16(r.bytes(2)) }
func (r *tdsReader) uint32() uint32 { return binary.LittleEndian.Uint32(r.bytes(4)) }
func (r *tdsReader) uint64() uint64 { return binary.LittleEndian.Uint64(r.bytes(8)) }

// text reads a string of n UTF-16 units.
func (r *tdsReader) text(n int) string { return tdsFromUTF16(r.bytes(2 * n)) }

// shortText reads a string with a one-byte length.
func (r *tdsReader) shortText() string { return r.text(int(r.byte())) }

func tdsFromUTF16(b []byte) string {
	units := make([]uint16, len(b)/2)
	for i := range units {
		units[i] = binary.LittleEndian.Uint16(b[2*i:])
	}
	return string(utf16.Decode(units))
}

func tdsToUTF16(s string) []byte {
	var b []byte
	for _, unit := range utf16.Encode([]rune(s)) {
		b = binary.LittleEndian.AppendUint16(b, unit)
	}
	return b
}
