package xbase

import (
	"fmt"

	"github.com/plinthgo/plinth/core/internal/jsonenc"
)

// encoder escapes characters that are special in HTML and JavaScript.
var encoder jsonenc.Encoder

// AppendValue appends the JSON encoding of v to dst. The result equals that of
// encoding/json. If v cannot be encoded, AppendValue returns dst unchanged.
func AppendValue(dst []byte, v any) ([]byte, error) {
	out, err := encoder.Append(dst, v)
	if err != nil {
		return dst, fmt.Errorf("xbase: encode data: %w", err)
	}
	return out, nil
}
