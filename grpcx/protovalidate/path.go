package protovalidate

import (
	"regexp"
	"strconv"
	"strings"

	"buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
)

// maxDepth is the most names in a path. What is deeper is told of the message there: a
// client may nest a recursive message thousands of times.
const maxDepth = 32

// path returns the dotted path of what failed, by the names in the .proto file. It is
// empty for a rule of the message as a whole. A key that is itself what failed is masked.
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

// subscript returns the index of an element of a list, or the key of one of a map.
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

// plainKey is a key of a map that is shown in a path, as over HTTP.
var plainKey = regexp.MustCompile(`^[A-Za-z0-9_-]{1,32}$`)

// maskKey returns the key of a map as it may stand in a path. A key comes from the
// client.
func maskKey(key string) string {
	if plainKey.MatchString(key) {
		return key
	}
	return "*"
}
