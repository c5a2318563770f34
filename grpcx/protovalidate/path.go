package protovalidate

import (
	"regexp"
	"strconv"
	"strings"

	"buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
)

// maxDepth limits the number of names in a path. Deeper failures are reported for the
// message at this depth, because a client may nest a recursive message thousands of
// times.
const maxDepth = 32

// path returns the dotted path of a violation with the names of the .proto file. It is
// empty for a rule of the whole message. A map key that violates a rule itself is masked.
func path(v *validate.Violation) string {
	elements := v.GetField().GetElements()
	elements = elements[:min(len(elements), maxDepth)]
	var b strings.Builder
	for i, e := range elements {
		if i > 0 {
			b.WriteByte('.')
		}
		b.WriteString(e.GetFieldName())
		if e.WhichSubscript() == validate.FieldPathElement_Subscript_not_set_case {
			continue
		}
		sub := subscript(e)
		if v.GetForKey() && i == len(elements)-1 {
			sub = "*"
		}
		b.WriteString("[" + sub + "]")
	}
	return b.String()
}

// subscript returns the index of a list element or the key of a map entry.
func subscript(e *validate.FieldPathElement) string {
	switch e.WhichSubscript() {
	case validate.FieldPathElement_Index_case:
		return strconv.FormatUint(e.GetIndex(), 10)
	case validate.FieldPathElement_BoolKey_case:
		return strconv.FormatBool(e.GetBoolKey())
	case validate.FieldPathElement_IntKey_case:
		return strconv.FormatInt(e.GetIntKey(), 10)
	case validate.FieldPathElement_UintKey_case:
		return strconv.FormatUint(e.GetUintKey(), 10)
	case validate.FieldPathElement_StringKey_case:
		return maskKey(e.GetStringKey())
	default:
		return "*"
	}
}

// plainKey matches map keys that a path may contain, as over HTTP.
var plainKey = regexp.MustCompile(`^[A-Za-z0-9_-]{1,32}$`)

// maskKey returns a map key in a form that may be logged. Clients choose the keys.
func maskKey(key string) string {
	if plainKey.MatchString(key) {
		return key
	}
	return "*"
}
