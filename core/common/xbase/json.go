package xbase

import (
	"fmt"

	"github.com/plinthgo/plinth/core/internal/jsonenc"
)

// encoder encodes payloads and texts: what HTML and JavaScript read as markup is escaped.
var encoder jsonenc.Encoder

// AppendValue appends v to dst, as JSON in the form of encoding/json. When v cannot be
// encoded, dst comes back as it was.
func AppendValue(dst []byte, v any) ([]byte, error) {
	out, err := encoder.Append(dst, v)
	if err != nil {
		return dst, fmt.Errorf("xbase: encode data: %w", err)
	}
	return out, nil
}
