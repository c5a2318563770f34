package xcache

import (
	"context"
	"encoding"
	"fmt"
	"reflect"
	"sync"
	"unsafe"
)

// text converts keys and field names to strings. It uses AppendText, MarshalText or
// String if the type has one of these methods. Otherwise strings stay unchanged and
// integers are decimal.
type text[T comparable] struct {
	writesRaw bool // a T is formatted as a string or an integer even if it has methods
	readsRaw  bool // a T is parsed as a string or an integer
	readable  bool // a T can be parsed
	direct    bool // a T is a string in memory, which is used unchanged
}

// newText returns the text form of keys or, if parsed is set, of hash fields, which are
// also parsed. A field type needs MarshalText and UnmarshalText, or must be a string or
// an integer, and its String method is not used. newText panics if T has no string form.
func newText[T comparable](role string, parsed bool) text[T] {
	var zero T
	_, writes := any(zero).(encoding.TextMarshaler)
	_, reads := any(&zero).(encoding.TextUnmarshaler)
	typ := reflect.TypeFor[T]()
	if parsed && writes != reads {
		panic(fmt.Sprintf("xcache: %s cannot be a %s: "+
			"it implements only one of MarshalText and UnmarshalText", typ, role))
	}
	raw := !writes && (parsed || !hasTextMethod(zero))
	if raw && !isStringOrInteger(typ.Kind()) {
		panic(fmt.Sprintf("xcache: %s cannot be a %s: it is not a string or an integer "+
			"and has no MarshalText or String method", typ, role))
	}
	return text[T]{
		writesRaw: raw || typ == snowflakeID, // the same string, without an allocation
		readsRaw:  raw,
		readable:  raw || reads,
		direct:    raw && typ.Kind() == reflect.String,
	}
}

func (t *text[T]) append(dst []byte, v T) ([]byte, error) {
	if t.writesRaw {
		return appendRaw(dst, reflect.ValueOf(v)), nil
	}
	return appendText(dst, v)
}

// parse returns the T whose string form is s.
func (t *text[T]) parse(s string) (v T, err error) {
	if t.readsRaw {
		err = decode(nil, true, []byte(s), reflect.ValueOf(&v).Elem())
	} else {
		err = any(&v).(encoding.TextUnmarshaler).UnmarshalText([]byte(s)) //nolint:forcetypeassert // newText has checked *T
	}
	return v, err
}

// hasTextMethod reports whether v has a method that returns its string form.
func hasTextMethod(v any) bool {
	switch v.(type) {
	case encoding.TextAppender, encoding.TextMarshaler, fmt.Stringer:
		return true
	}
	return false
}

// appendText appends the string form of v.
func appendText(dst []byte, v any) ([]byte, error) {
	switch v := v.(type) {
	case encoding.TextAppender:
		return v.AppendText(dst)
	case encoding.TextMarshaler:
		b, err := v.MarshalText()
		return append(dst, b...), err
	case fmt.Stringer:
		dst = append(dst, v.String()...)
	}
	return dst, nil
}

// of returns prefix followed by the string form of v.
func (t *text[T]) of(prefix string, v T) (string, error) {
	if t.direct {
		return prefix + asString(v), nil
	}
	b, err := t.append([]byte(prefix), v)
	if err != nil {
		return "", keyError(err)
	}
	return string(b), nil
}

// borrow is like of for a short-lived string. If buffer is not nil, it contains name,
// which is valid until releaseName.
func (t *text[T]) borrow(prefix string, v T) (name string, buffer *[]byte, err error) {
	if t.direct && prefix == "" {
		return asString(v), nil, nil
	}
	buffer, _ = buffers.Get().(*[]byte)
	b, err := t.append(append((*buffer)[:0], prefix...), v)
	if err != nil {
		return "", nil, keyError(err)
	}
	*buffer = b
	return unsafe.String(unsafe.SliceData(b), len(b)), buffer, nil //nolint:gosec // see releaseName
}

// releaseName returns the buffer to the pool unless it has grown too large.
func releaseName(buffer *[]byte) {
	if buffer != nil && cap(*buffer) <= maxBuffer {
		buffers.Put(buffer)
	}
}

const maxBuffer = 1 << 12

var buffers = sync.Pool{New: func() any { b := make([]byte, 0, 128); return &b }}

// start is like of but returns ctx.Err() if ctx has ended.
func (t *text[T]) start(ctx context.Context, prefix string, v T) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	return t.of(prefix, v)
}

// all is start for a list.
func (t *text[T]) all(ctx context.Context, prefix string, list []T) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	out := make([]string, len(list))
	for i, v := range list {
		var err error
		if out[i], err = t.of(prefix, v); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func keyError(err error) error { return fmt.Errorf("%w: key: %w", ErrEncode, err) }

// asString returns the string in v. The caller must check that the kind of T is string.
func asString[T any](v T) string {
	return *(*string)(unsafe.Pointer(&v)) //nolint:gosec // the kind of T is string
}

// readBack parses a key and rejects a string that of would not produce.
func (t *text[T]) readBack(s string) (T, error) {
	var zero T
	v, err := t.parse(s)
	if err != nil {
		return zero, fail(opScan, fmt.Errorf("%w: a key as %T: %w", ErrDecode, zero, redact(err)))
	}
	if canonical, err := t.of("", v); err != nil || canonical != s {
		return zero, fail(opScan,
			fmt.Errorf("%w: a key as %T: not in canonical form", ErrDecode, zero))
	}
	return v, nil
}
