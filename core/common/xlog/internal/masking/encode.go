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

// usualValue is the length of the JSON for which Encode allocates at first.
const usualValue = 128

// Encode returns the JSON of v: errors in it by their text, URLs without secrets, and
// values masked by their keys. A panic of a value's own method is an error.
func (m *Set) Encode(v any) (text []byte, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%T panicked while it was encoded: %v", v, r)
		}
	}()
	if text, err = m.values.Append(make([]byte, 0, usualValue), v); err != nil {
		return nil, err
	}
	return m.maskJSON(text)
}

// replace returns how values of type t are replaced: encoding/json writes most errors as
// {}, and a URL with its secrets.
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

// ErrorText is err.Error() that survives a nil pointer and a panic.
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
