package xlog

import (
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/plinthgo/plinth/core/common/xlog/internal/masking"
)

// addAny appends a value that slog has no kind for. Whatever it does, the line and its other
// attributes stay: what cannot be encoded leaves its reason under the key.
func (ln *line) addAny(key string, v any) {
	switch v := v.(type) {
	case nil:
		ln.event.RawJSON(key, []byte("null"))
	case error:
		ln.event.Str(key, errorText(v))
	default:
		text, err := encodeJSON(v, ln.mask)
		if err != nil {
			ln.event.Str(key, "!ERROR: "+err.Error())
			return
		}
		ln.event.RawJSON(key, text)
	}
}

// encodeJSON is json.Marshal that keeps the text of errors, masks values, and turns a panic of a
// value's own method into an error.
func encodeJSON(v any, mask *masking.Set) (text json.RawMessage, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%T panicked while it was encoded: %v", v, r)
		}
	}()
	p := plainer{mask: mask}
	text = p.encode(reflect.ValueOf(v), 0)
	if p.err != nil {
		return nil, p.err
	}
	return mask.JSON(text)
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
