package xvalid

import (
	"context"
	"encoding"
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xsnowflake"
)

// phrase is a text in both languages; {0} and {1} stand for its parameters.
type phrase [languages]string

var (
	textEmpty      = phrase{"the request has no body", "请求体为空"}
	textTruncated  = phrase{"the body ends too early", "请求体不完整"}
	textTooLarge   = phrase{"the body is larger than {0} bytes", "请求体超过 {0} 字节"}
	textSyntax     = phrase{"the body is not valid JSON at byte {0}", "请求体在第 {0} 字节处不是有效的 JSON"}
	textUnreadable = phrase{"the request cannot be read", "无法解析请求"}
	textNumber     = phrase{"a value is not a number that fits", "有一个值不是有效的数字"}
	textTime       = phrase{"a value is not a time of the expected form", "有一个值不是有效的时间"}
	textType       = phrase{"{0} must be {1}", "{0}必须是{1}"}
	textThisBody   = phrase{"the body", "请求体"}

	wantBool     = phrase{"true or false", "布尔值"}
	wantInteger  = phrase{"an integer", "整数"}
	wantRange    = phrase{"an integer from {0} to {1}", "{0} 到 {1} 之间的整数"}
	wantPositive = phrase{"an integer that is not negative", "非负整数"}
	wantNumber   = phrase{"a number", "数字"}
	wantString   = phrase{"a string", "字符串"}
	wantList     = phrase{"a list", "列表"}
	wantObject   = phrase{"an object", "对象"}
	wantTime     = phrase{"a time (RFC 3339)", "时间（RFC 3339）"}
	wantTimeLike = phrase{"a time such as {0}", "时间，例如 {0}"}
	wantUnix     = phrase{"a Unix time in {0}", "以{0}为单位的 Unix 时间"}
	wantDuration = phrase{"a duration such as 1m30s", "时长，例如 1m30s"}
	wantID       = phrase{"a valid id", "有效的 ID"}
	wantBytes    = phrase{"a Base64 string", "Base64 字符串"}
	wantOther    = phrase{"of the expected type", "预期的类型"}
)

func say(ctx context.Context, p phrase, params ...string) xerror.ErrMessage {
	text := p[languageOf(xerror.Language(ctx))]
	for i, s := range params {
		text = strings.Replace(text, "{"+strconv.Itoa(i)+"}", s, 1)
	}
	return xerror.ErrMessage(text)
}

var (
	idType         = reflect.TypeFor[xsnowflake.SnowflakeID]()
	jsonNumberType = reflect.TypeFor[json.Number]()
	durationType   = reflect.TypeFor[time.Duration]()

	jsonUnmarshaler = reflect.TypeFor[json.Unmarshaler]()
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// wanted describes the values of a type.
func wanted(ctx context.Context, t reflect.Type) string {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t {
	case nil:
		return string(say(ctx, wantOther))
	case timeType:
		return string(say(ctx, wantTime))
	case durationType:
		return string(say(ctx, wantDuration))
	case jsonNumberType:
		return string(say(ctx, wantNumber))
	case idType: // an integer, but not every one
		return string(say(ctx, wantID))
	}
	switch t.Kind() {
	case reflect.Struct, reflect.Map, reflect.Slice, reflect.Array, reflect.Interface:
		if p := reflect.PointerTo(t); p.Implements(jsonUnmarshaler) || p.Implements(textUnmarshaler) {
			return string(say(ctx, wantOther)) // its form is its own
		}
	default:
	}
	return wantedKind(ctx, t)
}

// unixUnits are the values of time_format that stand for numbers.
var unixUnits = map[string]phrase{
	"unix":      {"seconds", "秒"},
	"unixmilli": {"milliseconds", "毫秒"},
	"unixmicro": {"microseconds", "微秒"},
	"unixnano":  {"nanoseconds", "纳秒"},
}

// wantedTime describes the times of a time_format of gin.
func wantedTime(ctx context.Context, format string) string {
	if unit, ok := unixUnits[strings.ToLower(format)]; ok {
		return string(say(ctx, wantUnix, string(say(ctx, unit))))
	}
	if format == "" || format == time.RFC3339 || format == time.RFC3339Nano {
		return string(say(ctx, wantTime))
	}
	return string(say(ctx, wantTimeLike, format)) // a layout of Go is an example of itself
}

// wantedKind describes the values of a type by its kind.
func wantedKind(ctx context.Context, t reflect.Type) string {
	p := wantOther
	switch t.Kind() {
	case reflect.Bool:
		p = wantBool
	case reflect.Int8, reflect.Int16, reflect.Int32:
		most := int64(1)<<(t.Bits()-1) - 1
		return string(say(ctx, wantRange, strconv.FormatInt(-most-1, 10), strconv.FormatInt(most, 10)))
	case reflect.Uint8, reflect.Uint16, reflect.Uint32:
		return string(say(ctx, wantRange, "0", strconv.FormatUint(uint64(1)<<t.Bits()-1, 10)))
	case reflect.Int, reflect.Int64:
		p = wantInteger
	case reflect.Uint, reflect.Uint64, reflect.Uintptr:
		p = wantPositive
	case reflect.Float32, reflect.Float64:
		p = wantNumber
	case reflect.String:
		p = wantString
	case reflect.Slice, reflect.Array:
		if p = wantList; t.Elem().Kind() == reflect.Uint8 {
			p = wantBytes
		}
	case reflect.Struct, reflect.Map, reflect.Interface:
		p = wantObject
	default:
	}
	return string(say(ctx, p))
}
