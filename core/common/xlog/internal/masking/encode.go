package masking

import (
	"fmt"
	"net/url"
	"reflect"
)

var (
	errorType = reflect.TypeFor[error]()
	urlType   = reflect.TypeFor[url.URL]()
)

// encodeBuffer is the initial capacity of the JSON buffer of Encode.
const encodeBuffer = 128

// Encode returns the JSON of v: errors as their text, URLs without secrets, and values
// masked by their keys. It returns a panic of a method of v as an error.
func (m *Set) Encode(v any) (text []byte, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%T panicked during encoding: %v", v, r)
		}
	}()
	if text, err = m.values.Append(make([]byte, 0, encodeBuffer), v); err != nil {
		return nil, err
	}
	return m.maskJSON(text)
}

// replace returns the replacement function for type t, or nil. encoding/json writes most
// errors as {}, and a URL with its secrets.
func (m *Set) replace(t reflect.Type) func(v reflect.Value) string {
	switch {
	case t.Implements(errorType):
		return func(v reflect.Value) string {
			err, _ := reflect.TypeAssert[error](v)
			return ErrorText(err)
		}
	case t == urlType:
		return func(v reflect.Value) string {
			u, _ := reflect.TypeAssert[url.URL](v)
			return m.maskURL(&u)
		}
	}
	return nil
}

// ErrorText returns err.Error(). It recovers a panic, and returns "<nil>" for a nil
// pointer that panics.
func ErrorText(err error) (text string) {
	defer func() {
		if r := recover(); r != nil {
			if v := reflect.ValueOf(err); v.Kind() == reflect.Pointer && v.IsNil() {
				text = "<nil>"
				return
			}
			text = fmt.Sprintf("!ERROR: %T panicked in Error: %v", err, r)
		}
	}()
	return err.Error()
}
