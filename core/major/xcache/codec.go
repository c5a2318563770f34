package xcache

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
)

// Codec encodes and decodes values. It must be safe for concurrent use. Encode must not
// retain the bytes that it returns, and Decode must not retain data.
//
// Strings, byte slices and integers bypass the codec: they are stored unchanged, integers
// in decimal, unless their type implements a JSON or text interface.
type Codec interface {
	Encode(v any) ([]byte, error)
	Decode(data []byte, v any) error
}

// jsonCodec is the default codec.
type jsonCodec struct{}

// Encode implements Codec.
func (jsonCodec) Encode(v any) ([]byte, error) { return json.Marshal(v) }

// Decode implements Codec.
func (jsonCodec) Decode(data []byte, v any) error { return json.Unmarshal(data, v) }

// isRaw reports whether values of type t bypass the codec.
func isRaw(t reflect.Type) bool {
	isBytes := t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8 &&
		!encodesItself(t.Elem())
	return !encodesItself(t) && (isBytes || isStringOrInteger(t.Kind()))
}

func isStringOrInteger(k reflect.Kind) bool {
	return k == reflect.String || k >= reflect.Int && k <= reflect.Uintptr
}

// marshalers are the interfaces that customize the encoding of a type.
var marshalers = []reflect.Type{
	reflect.TypeFor[json.Marshaler](), reflect.TypeFor[json.Unmarshaler](),
	reflect.TypeFor[encoding.TextMarshaler](), reflect.TypeFor[encoding.TextUnmarshaler](),
}

// encodesItself reports whether t or a pointer to it customizes its encoding.
func encodesItself(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return slices.ContainsFunc(marshalers, p.Implements)
}

// appendRaw appends the bytes of v. The type of v must satisfy isRaw.
func appendRaw(dst []byte, v reflect.Value) []byte {
	switch {
	case v.Kind() == reflect.String:
		return append(dst, v.String()...)
	case v.CanInt():
		return strconv.AppendInt(dst, v.Int(), 10)
	case v.CanUint():
		return strconv.AppendUint(dst, v.Uint(), 10)
	default:
		return append(dst, v.Bytes()...)
	}
}

// encode returns the bytes of v, never nil. v must be addressable.
func encode(c Codec, raw bool, v reflect.Value) ([]byte, error) {
	if raw {
		return appendRaw([]byte{}, v), nil
	}
	data, err := c.Encode(v.Addr().Interface())
	if err != nil {
		return nil, fmt.Errorf("%w of type %s: %w", ErrEncode, v.Type(), err)
	}
	return data, nil
}

// decode sets v from data. v must be addressable and zero.
func decode(c Codec, raw bool, data []byte, v reflect.Value) error {
	var err error
	switch {
	case !raw:
		err = c.Decode(data, v.Addr().Interface())
	case v.Kind() == reflect.String:
		v.SetString(string(data))
	case v.CanInt():
		var n int64
		n, err = strconv.ParseInt(string(data), 10, v.Type().Bits())
		v.SetInt(n)
	case v.CanUint():
		var n uint64
		n, err = strconv.ParseUint(string(data), 10, v.Type().Bits())
		v.SetUint(n)
	default:
		v.SetBytes(append([]byte{}, data...))
	}
	if err != nil {
		return fmt.Errorf("%w as %s: %w", ErrDecode, v.Type(), redact(err))
	}
	return nil
}

// redact removes the data from a syntax error of strconv.
func redact(err error) error {
	if e, ok := err.(*strconv.NumError); ok { //nolint:errorlint // strconv does not wrap it
		return e.Err
	}
	return err
}

// values encodes and decodes the values of one type for one manager.
type values[V any] struct {
	codec Codec
	raw   bool // isRaw of V
	// asObject reports whether an in-process store may store a V without encoding it. V
	// must be immutable, or a shallow copy must be a full copy and decoding must restore
	// the encoded value exactly. In the second case each non-raw value must also pass
	// roundTrips.
	asObject bool
}

func newValues[V any](m *Manager, immutable bool) values[V] {
	t := reflect.TypeFor[V]()
	raw := isRaw(t)
	_, isJSON := m.options.Codec.(jsonCodec)
	return values[V]{
		codec: m.options.Codec, raw: raw,
		asObject: immutable || isPlain(t) && (raw || isJSON),
	}
}

func (c *values[V]) encode(v *V) ([]byte, error) {
	if v == nil {
		return nil, ErrNil
	}
	return encode(c.codec, c.raw, reflect.ValueOf(v).Elem())
}

func (c *values[V]) decode(data []byte) (*V, error) {
	v := new(V)
	if err := decode(c.codec, c.raw, data, reflect.ValueOf(v).Elem()); err != nil {
		return nil, err
	}
	return v, nil
}

func (c *values[V]) encodeAll(list []V) ([][]byte, error) {
	out := make([][]byte, len(list))
	for i := range list {
		data, err := c.encode(&list[i])
		if err != nil {
			return nil, err
		}
		out[i] = data
	}
	return out, nil
}

// decodeAll decodes a list of values. The result is never nil.
func (c *values[V]) decodeAll(list [][]byte) ([]V, error) {
	out := make([]V, len(list))
	for i, data := range list {
		if err := decode(c.codec, c.raw, data, reflect.ValueOf(&out[i]).Elem()); err != nil {
			return nil, err
		}
	}
	return out, nil
}
