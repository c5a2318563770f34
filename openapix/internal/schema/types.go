package schema

import (
	"encoding"
	"encoding/json"
	"math/big"
	"reflect"
	"strconv"
	"time"

	"github.com/gin-gonic/gin/binding"

	"github.com/plinthgo/plinth/core/common/xsnowflake"
)

const (
	patternInteger  = "^-?(0|[1-9][0-9]*)$"
	patternNatural  = "^(0|[1-9][0-9]*)$"
	patternPositive = "^[1-9][0-9]*$"
)

var (
	idType       = reflect.TypeFor[xsnowflake.SnowflakeID]()
	timeType     = reflect.TypeFor[time.Time]()
	durationType = reflect.TypeFor[time.Duration]()
	numberType   = reflect.TypeFor[json.Number]()

	marshalerType       = reflect.TypeFor[json.Marshaler]()
	unmarshalerType     = reflect.TypeFor[json.Unmarshaler]()
	textMarshalerType   = reflect.TypeFor[encoding.TextMarshaler]()
	textUnmarshalerType = reflect.TypeFor[encoding.TextUnmarshaler]()
	paramType           = reflect.TypeFor[binding.BindUnmarshaler]()
)

// known returns the schema of a type whose JSON is known, or nil.
func known(t reflect.Type) *Schema {
	switch t {
	case idType:
		return &Schema{Types: []string{"string"}, Pattern: patternNatural}
	case timeType:
		return &Schema{Types: []string{"string"}, Format: "date-time"}
	case numberType:
		return Of("number")
	case reflect.TypeFor[json.RawMessage]():
		return &Schema{}
	case reflect.TypeFor[big.Int]():
		return Of("integer")
	}
	return namedTypes[t.PkgPath()+"."+t.Name()].schema()
}

// namedType is a type of a module that this module does not require.
type namedType struct {
	types  []string
	format string
}

var namedTypes = map[string]namedType{
	"github.com/google/uuid.UUID": {[]string{"string"}, "uuid"},
	"gorm.io/gorm.DeletedAt":      {[]string{"string", "null"}, "date-time"},
}

func (n namedType) schema() *Schema {
	if n.types == nil {
		return nil
	}
	return &Schema{Types: append([]string(nil), n.types...), Format: n.format}
}

func implements(t, i reflect.Type) bool {
	return t.Implements(i) || reflect.PointerTo(t).Implements(i)
}

func encodesText(t reflect.Type) bool {
	return implements(t, textMarshalerType) || implements(t, textUnmarshalerType)
}

// encodesItself reports whether a method of the type writes or reads its JSON.
func encodesItself(t reflect.Type, dir Direction) bool {
	if dir == Request {
		return implements(t, unmarshalerType) || implements(t, textUnmarshalerType)
	}
	return implements(t, marshalerType) || implements(t, textMarshalerType)
}

// custom returns the schema of a type that encodes itself: a string if it is text, and
// any value otherwise.
func custom(t reflect.Type, dir Direction) *Schema {
	if dir == Request && implements(t, unmarshalerType) ||
		dir == Response && implements(t, marshalerType) {
		return &Schema{}
	}
	return Of("string")
}

// scalar returns the schema of a basic kind, or nil.
func scalar(t reflect.Type) *Schema {
	switch k := t.Kind(); {
	case k == reflect.String:
		return Of("string")
	case k == reflect.Bool:
		return Of("boolean")
	case k == reflect.Float32:
		return &Schema{Types: []string{"number"}, Format: "float"}
	case k == reflect.Float64:
		return &Schema{Types: []string{"number"}, Format: "double"}
	case isInt(k) || isUint(k):
		return integer(t)
	default:
		return nil
	}
}

func isInt(k reflect.Kind) bool  { return k >= reflect.Int && k <= reflect.Int64 }
func isUint(k reflect.Kind) bool { return k >= reflect.Uint && k <= reflect.Uintptr }

// integer returns the schema of an integer with the range of its type, unless a format
// states it.
func integer(t reflect.Type) *Schema {
	s, bits := Of("integer"), t.Bits()
	switch {
	case t.Kind() == reflect.Int32:
		s.Format = "int32"
	case bits == 64 && isInt(t.Kind()):
		s.Format = "int64"
	case isInt(t.Kind()):
		limit := int64(1) << (bits - 1)
		s.Minimum = json.Number(strconv.FormatInt(-limit, 10))
		s.Maximum = json.Number(strconv.FormatInt(limit-1, 10))
	default:
		s.Minimum = "0"
		if bits < 64 {
			s.Maximum = json.Number(strconv.FormatInt(int64(1)<<bits-1, 10))
		}
	}
	return s
}

// quoted returns the schema of a field with the JSON option "string".
func quoted(t reflect.Type) *Schema {
	s := Of("string")
	switch k := t.Kind(); {
	case isInt(k):
		s.Pattern = patternInteger
	case isUint(k):
		s.Pattern = patternNatural
	case k == reflect.Bool:
		s.Enum = []any{"true", "false"}
	case k == reflect.String:
		s.Pattern = `^".*"$`
	}
	return s
}

// class is the kind of a value, which determines the meaning of a rule.
type class uint8

const (
	classOther class = iota // rules have no keyword
	classText
	classInt
	classFloat
	classBool
	classList
	classArray
	classMap
	classStruct
	classID
)

// classOf returns the class of a value with the given schema. t is not a pointer.
func classOf(t reflect.Type, s *Schema) class {
	if t == idType {
		return classID
	}
	c := kindClass(t.Kind())
	if c == classStruct && s.Ref != nil || s.Types != nil && s.Types[0] == classTypes[c] {
		return c
	}
	return classOther // the type encodes itself
}

// classTypes are the JSON types of the classes.
var classTypes = [...]string{
	classText: "string", classInt: "integer", classFloat: "number", classBool: "boolean",
	classList: "array", classArray: "array", classMap: "object", classStruct: "object",
	classID: "string",
}

func kindClass(k reflect.Kind) class {
	switch {
	case isInt(k) || isUint(k):
		return classInt
	case k == reflect.Float32 || k == reflect.Float64:
		return classFloat
	}
	return kindClasses[k]
}

var kindClasses = [...]class{
	reflect.String: classText, reflect.Bool: classBool, reflect.Slice: classList,
	reflect.Array: classArray, reflect.Map: classMap, reflect.Struct: classStruct,
	reflect.UnsafePointer: classOther,
}
