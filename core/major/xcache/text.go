package xcache

import (
	"context"
	"encoding"
	"fmt"
	"reflect"
	"sync"
	"unsafe"
)

// text turns keys and field names into strings: what the type itself says (AppendText,
// MarshalText, String), else a string as it is and an integer in decimal.
type text[T comparable] struct {
	writesRaw bool // a T is written as a string or an integer, whatever methods it has
	readsRaw  bool // it is read as one
	readable  bool // it can be read back from its text
	direct    bool // a T is a string in memory, and its text is that string
}

// newText returns the text of keys or, with isRead, of fields of hashes: a type either
// says and reads its text itself, or is a string or an integer, whatever its String
// method says. It panics if T has no such text, which is a mistake of the program.
func newText[T comparable](role string, isRead bool) text[T] {
	var zero T
	_, writes := any(zero).(encoding.TextMarshaler)
	_, reads := any(&zero).(encoding.TextUnmarshaler)
	typ := reflect.TypeFor[T]()
	if isRead && writes != reads {
		panic(fmt.Sprintf("xcache: %s cannot be a %s: it has only one of MarshalText and UnmarshalText", typ, role))
	}
	raw := !writes && (isRead || !hasTextMethod(zero))
	if raw && !isStringOrInteger(typ.Kind()) {
		panic(fmt.Sprintf("xcache: %s cannot be a %s: it is no string, no integer, and has no MarshalText or String method", typ, role))
	}
	return text[T]{
		writesRaw: raw || typ == snowflakeID, // the same text, without an allocation
		readsRaw:  raw,
		readable:  raw || reads,
		direct:    raw && typ.Kind() == reflect.String,
	}
}

// append appends the text of v.
func (t *text[T]) append(dst []byte, v T) ([]byte, error) {
	if t.writesRaw {
		return appendRaw(dst, reflect.ValueOf(v)), nil
	}
	return appendText(dst, v)
}

// parse returns the T whose text is s.
func (t *text[T]) parse(s string) (v T, err error) {
	if t.readsRaw {
		err = decode(nil, true, []byte(s), reflect.ValueOf(&v).Elem())
	} else {
		err = any(&v).(encoding.TextUnmarshaler).UnmarshalText([]byte(s)) //nolint:forcetypeassert // *T was seen to be one
	}
	return v, err
}

// hasTextMethod reports whether v has a method for its text.
func hasTextMethod(v any) bool {
	switch v.(type) {
	case encoding.TextAppender, encoding.TextMarshaler, fmt.Stringer:
		return true
	}
	return false
}

// appendText appends what the method of v for its text returns.
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

// of returns the text of v behind prefix.
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

// borrow is of for a name that is not stored. If buffer is not nil, the name is in it and
// is valid until releaseName.
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

// releaseName ends the use of a name. A buffer that has grown large is not kept.
func releaseName(buffer *[]byte) {
	if buffer != nil && cap(*buffer) <= maxBuffer {
		buffers.Put(buffer)
	}
}

const maxBuffer = 1 << 12

var buffers = sync.Pool{New: func() any { b := make([]byte, 0, 128); return &b }}

// begin is of for a call whose context has not ended.
func (t *text[T]) begin(ctx context.Context, prefix string, v T) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	return t.of(prefix, v)
}

// all is begin for many.
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

// asString reads a value whose type is a kind of string.
func asString[T any](v T) string {
	return *(*string)(unsafe.Pointer(&v)) //nolint:gosec // the caller has seen that the kind of T is string
}

// readBack is parse for a key that is spelled as append does.
func (t *text[T]) readBack(s string) (T, error) {
	var none T
	v, err := t.parse(s)
	if err != nil {
		return none, fail(opScan, fmt.Errorf("%w: a key as %T: %w", ErrDecode, none, redact(err)))
	}
	if again, err := t.of("", v); err != nil || again != s {
		return none, fail(opScan,
			fmt.Errorf("%w: a key as %T: another spelling of it", ErrDecode, none))
	}
	return v, nil
}
