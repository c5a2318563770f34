package xlog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"reflect"
)

// addAny appends a value that slog has no kind for. Whatever it does, the line and its other attributes
// stay: what cannot be encoded leaves its reason under the key.
func (ln *line) addAny(key string, v any) {
	switch v := v.(type) {
	case nil:
		ln.event.RawJSON(key, []byte("null"))
	case error:
		ln.event.Str(key, errorText(v))
	case *url.URL:
		ln.event.Str(key, urlText(v))
	default:
		text, err := encodeJSON(plain(v, 0))
		if err != nil {
			ln.event.Str(key, "!ERROR: "+err.Error())
			return
		}
		ln.event.RawJSON(key, ln.mask.maskJSON(text))
	}
}

// maxDepth bounds how deep plain looks: a map may hold itself. encoding/json refuses what remains.
const maxDepth = 16

// plain replaces what encoding/json would lose by its text: the errors in lists and maps, which it
// writes as {}.
func plain(v any, depth int) any {
	if depth == maxDepth {
		return v
	}
	switch v := v.(type) {
	case error:
		return errorText(v)
	case *url.URL:
		return urlText(v)
	case []error:
		return plainList(v, depth+1)
	case []any:
		return plainList(v, depth+1)
	case map[string]error:
		return plainMap(v, depth+1)
	case map[string]any:
		return plainMap(v, depth+1)
	default:
		return plainErrors(v)
	}
}

// plainErrors replaces a list of some type of error, such as []*MyError, by the texts of its elements.
func plainErrors(v any) any {
	list := reflect.ValueOf(v)
	if list.Kind() != reflect.Slice || !list.Type().Elem().Implements(reflect.TypeFor[error]()) {
		return v
	}
	texts := make([]string, list.Len())
	for i := range texts {
		err, _ := reflect.TypeAssert[error](list.Index(i))
		texts[i] = errorText(err)
	}
	return texts
}

func plainList[T any](list []T, depth int) []any {
	if list == nil {
		return nil
	}
	out := make([]any, len(list))
	for i, v := range list {
		out[i] = plain(v, depth)
	}
	return out
}

func plainMap[T any](m map[string]T, depth int) map[string]any {
	if m == nil {
		return nil
	}
	out := make(map[string]any, len(m))
	for k, v := range m {
		out[k] = plain(v, depth)
	}
	return out
}

// encodeJSON is json.Marshal that turns a panic of a value's own method into an error. HTML characters
// stay readable.
func encodeJSON(v any) (text []byte, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%T panicked while it was encoded: %v", v, r)
		}
	}()
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}

// errorText is err.Error() that survives a nil pointer and a panic.
func errorText(err error) (text string) {
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

// urlText is the URL without the password in it.
func urlText(u *url.URL) string {
	if u == nil {
		return "<nil>"
	}
	return u.Redacted()
}
